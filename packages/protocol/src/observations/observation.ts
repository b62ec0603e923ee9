import type { Static, TSchema } from "typebox";
import { unionByKind } from "../schema.ts";
import { BrowserObservation } from "./browser-observation.ts";
import { MCPToolObservation, FinishObservation, ThinkObservation } from "./built-in-observations.ts";
import {
  FileEditorObservation,
  EditObservation,
  ListDirectoryObservation,
  ReadFileObservation,
  WriteFileObservation,
  PlanningFileEditorObservation,
} from "./file-observations.ts";
import { GlobObservation, GrepObservation } from "./search-observations.ts";
import { TaskTrackerObservation } from "./task-tracker-observation.ts";
import { TerminalObservation } from "./terminal-observation.ts";

/** The result of a tool call, discriminated by `kind`. */
export const Observation = unionByKind("Observation", {
  "openhands__sdk__mcp__definition__MCPToolObservation-Output__1": MCPToolObservation,
  "openhands__sdk__tool__builtins__finish__FinishObservation-Output__1": FinishObservation,
  "openhands__sdk__tool__builtins__think__ThinkObservation-Output__1": ThinkObservation,
  "openhands__tools__browser_use__definition__BrowserObservation-Output__1": BrowserObservation,
  "openhands__tools__file_editor__definition__FileEditorObservation-Output__1": FileEditorObservation,
  "openhands__tools__gemini__edit__definition__EditObservation-Output__1": EditObservation,
  "openhands__tools__gemini__list_directory__definition__ListDirectoryObservation-Output__1":
    ListDirectoryObservation,
  "openhands__tools__gemini__read_file__definition__ReadFileObservation-Output__1": ReadFileObservation,
  "openhands__tools__gemini__write_file__definition__WriteFileObservation-Output__1": WriteFileObservation,
  "openhands__tools__glob__definition__GlobObservation-Output__1": GlobObservation,
  "openhands__tools__grep__definition__GrepObservation-Output__1": GrepObservation,
  "openhands__tools__planning_file_editor__definition__PlanningFileEditorObservation-Output__1":
    PlanningFileEditorObservation,
  "openhands__tools__task_tracker__definition__TaskTrackerObservation-Output__1": TaskTrackerObservation,
  "openhands__tools__terminal__definition__TerminalObservation-Output__1": TerminalObservation,
});
export type Observation = Static<typeof Observation>;

/** The kind names of Observation. */
export type ObservationKind = Observation["kind"];

/** The schema of each observation kind. */
export const observationSchemaByKind: Readonly<
  Record<ObservationKind, TSchema> & Record<string, TSchema | undefined>
> = {
  MCPToolObservation,
  FinishObservation,
  ThinkObservation,
  BrowserObservation,
  FileEditorObservation,
  EditObservation,
  ListDirectoryObservation,
  ReadFileObservation,
  WriteFileObservation,
  GlobObservation,
  GrepObservation,
  PlanningFileEditorObservation,
  TaskTrackerObservation,
  TerminalObservation,
};
