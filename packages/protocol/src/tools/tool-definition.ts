import type { Static, TSchema } from "typebox";
import { unionByKind } from "../schema.ts";
import {
  BrowserClickTool,
  BrowserCloseTabTool,
  BrowserGetContentTool,
  BrowserGetStateTool,
  BrowserGetStorageTool,
  BrowserGoBackTool,
  BrowserListTabsTool,
  BrowserNavigateTool,
  BrowserScrollTool,
  BrowserSetStorageTool,
  BrowserStartRecordingTool,
  BrowserStopRecordingTool,
  BrowserSwitchTabTool,
  BrowserToolSet,
  BrowserTypeTool,
} from "./browser-tools.ts";
import { MCPToolDefinition } from "./mcp-tool-definition.ts";
import {
  FinishTool,
  ThinkTool,
  FileEditorTool,
  EditTool,
  ListDirectoryTool,
  ReadFileTool,
  WriteFileTool,
  GlobTool,
  GrepTool,
  PlanningFileEditorTool,
  TaskTrackerTool,
  TerminalTool,
} from "./workspace-tools.ts";

/** A tool in the log: its purpose, and the kinds of its actions and observations. */
export const ToolDefinition = unionByKind("ToolDefinition", {
  "openhands__sdk__mcp__tool__MCPToolDefinition-Output__1": MCPToolDefinition,
  "openhands__sdk__tool__builtins__finish__FinishTool-Output__1": FinishTool,
  "openhands__sdk__tool__builtins__think__ThinkTool-Output__1": ThinkTool,
  "openhands__tools__browser_use__definition__BrowserClickTool-Output__1": BrowserClickTool,
  "openhands__tools__browser_use__definition__BrowserCloseTabTool-Output__1": BrowserCloseTabTool,
  "openhands__tools__browser_use__definition__BrowserGetContentTool-Output__1": BrowserGetContentTool,
  "openhands__tools__browser_use__definition__BrowserGetStateTool-Output__1": BrowserGetStateTool,
  "openhands__tools__browser_use__definition__BrowserGetStorageTool-Output__1": BrowserGetStorageTool,
  "openhands__tools__browser_use__definition__BrowserGoBackTool-Output__1": BrowserGoBackTool,
  "openhands__tools__browser_use__definition__BrowserListTabsTool-Output__1": BrowserListTabsTool,
  "openhands__tools__browser_use__definition__BrowserNavigateTool-Output__1": BrowserNavigateTool,
  "openhands__tools__browser_use__definition__BrowserScrollTool-Output__1": BrowserScrollTool,
  "openhands__tools__browser_use__definition__BrowserSetStorageTool-Output__1": BrowserSetStorageTool,
  "openhands__tools__browser_use__definition__BrowserStartRecordingTool-Output__1": BrowserStartRecordingTool,
  "openhands__tools__browser_use__definition__BrowserStopRecordingTool-Output__1": BrowserStopRecordingTool,
  "openhands__tools__browser_use__definition__BrowserSwitchTabTool-Output__1": BrowserSwitchTabTool,
  "openhands__tools__browser_use__definition__BrowserToolSet-Output__1": BrowserToolSet,
  "openhands__tools__browser_use__definition__BrowserTypeTool-Output__1": BrowserTypeTool,
  "openhands__tools__file_editor__definition__FileEditorTool-Output__1": FileEditorTool,
  "openhands__tools__gemini__edit__definition__EditTool-Output__1": EditTool,
  "openhands__tools__gemini__list_directory__definition__ListDirectoryTool-Output__1": ListDirectoryTool,
  "openhands__tools__gemini__read_file__definition__ReadFileTool-Output__1": ReadFileTool,
  "openhands__tools__gemini__write_file__definition__WriteFileTool-Output__1": WriteFileTool,
  "openhands__tools__glob__definition__GlobTool-Output__1": GlobTool,
  "openhands__tools__grep__definition__GrepTool-Output__1": GrepTool,
  "openhands__tools__planning_file_editor__definition__PlanningFileEditorTool-Output__1":
    PlanningFileEditorTool,
  "openhands__tools__task_tracker__definition__TaskTrackerTool-Output__1": TaskTrackerTool,
  "openhands__tools__terminal__definition__TerminalTool-Output__1": TerminalTool,
});
export type ToolDefinition = Static<typeof ToolDefinition>;

/** The kind names of ToolDefinition. */
export type ToolDefinitionKind = ToolDefinition["kind"];

/** The schema of each tool definition kind. */
export const toolDefinitionSchemaByKind: Readonly<
  Record<ToolDefinitionKind, TSchema> & Record<string, TSchema | undefined>
> = {
  MCPToolDefinition,
  FinishTool,
  ThinkTool,
  BrowserClickTool,
  BrowserCloseTabTool,
  BrowserGetContentTool,
  BrowserGetStateTool,
  BrowserGetStorageTool,
  BrowserGoBackTool,
  BrowserListTabsTool,
  BrowserNavigateTool,
  BrowserScrollTool,
  BrowserSetStorageTool,
  BrowserStartRecordingTool,
  BrowserStopRecordingTool,
  BrowserSwitchTabTool,
  BrowserToolSet,
  BrowserTypeTool,
  FileEditorTool,
  EditTool,
  ListDirectoryTool,
  ReadFileTool,
  WriteFileTool,
  GlobTool,
  GrepTool,
  PlanningFileEditorTool,
  TaskTrackerTool,
  TerminalTool,
};
