import type { Static } from "typebox";
import { toolDefinition } from "./tool-fields.ts";

export const FinishTool = toolDefinition("FinishTool");
export type FinishTool = Static<typeof FinishTool>;

export const ThinkTool = toolDefinition("ThinkTool");
export type ThinkTool = Static<typeof ThinkTool>;

export const FileEditorTool = toolDefinition("FileEditorTool");
export type FileEditorTool = Static<typeof FileEditorTool>;

export const EditTool = toolDefinition("EditTool");
export type EditTool = Static<typeof EditTool>;

export const ListDirectoryTool = toolDefinition("ListDirectoryTool");
export type ListDirectoryTool = Static<typeof ListDirectoryTool>;

export const ReadFileTool = toolDefinition("ReadFileTool");
export type ReadFileTool = Static<typeof ReadFileTool>;

export const WriteFileTool = toolDefinition("WriteFileTool");
export type WriteFileTool = Static<typeof WriteFileTool>;

export const GlobTool = toolDefinition("GlobTool");
export type GlobTool = Static<typeof GlobTool>;

export const GrepTool = toolDefinition("GrepTool");
export type GrepTool = Static<typeof GrepTool>;

export const PlanningFileEditorTool = toolDefinition("PlanningFileEditorTool");
export type PlanningFileEditorTool = Static<typeof PlanningFileEditorTool>;

export const TaskTrackerTool = toolDefinition("TaskTrackerTool");
export type TaskTrackerTool = Static<typeof TaskTrackerTool>;

export const TerminalTool = toolDefinition("TerminalTool");
export type TerminalTool = Static<typeof TerminalTool>;
