import type { Static, TSchema } from "typebox";
import { unionByKind } from "../schema.ts";
import {
  BrowserAction,
  BrowserClickAction,
  BrowserCloseTabAction,
  BrowserGetContentAction,
  BrowserGetStateAction,
  BrowserGetStorageAction,
  BrowserGoBackAction,
  BrowserListTabsAction,
  BrowserNavigateAction,
  BrowserScrollAction,
  BrowserSetStorageAction,
  BrowserStartRecordingAction,
  BrowserStopRecordingAction,
  BrowserSwitchTabAction,
  BrowserTypeAction,
} from "./browser-actions.ts";
import { MCPToolAction, FinishAction, ThinkAction } from "./built-in-actions.ts";
import {
  FileEditorAction,
  EditAction,
  ListDirectoryAction,
  ReadFileAction,
  WriteFileAction,
  PlanningFileEditorAction,
} from "./file-actions.ts";
import { GlobAction, GrepAction } from "./search-actions.ts";
import { TaskTrackerAction } from "./task-tracker-action.ts";
import { TerminalAction } from "./terminal-action.ts";

/** The actions of an agent: the arguments of one tool call, discriminated by `kind`. */
export const Action = unionByKind("Action", {
  "openhands__sdk__mcp__definition__MCPToolAction-Output__1": MCPToolAction,
  "openhands__sdk__tool__builtins__finish__FinishAction-Output__1": FinishAction,
  "openhands__sdk__tool__builtins__think__ThinkAction-Output__1": ThinkAction,
  "openhands__tools__browser_use__definition__BrowserAction-Output__1": BrowserAction,
  "openhands__tools__browser_use__definition__BrowserClickAction-Output__1": BrowserClickAction,
  "openhands__tools__browser_use__definition__BrowserCloseTabAction-Output__1": BrowserCloseTabAction,
  "openhands__tools__browser_use__definition__BrowserGetContentAction-Output__1": BrowserGetContentAction,
  "openhands__tools__browser_use__definition__BrowserGetStateAction-Output__1": BrowserGetStateAction,
  "openhands__tools__browser_use__definition__BrowserGetStorageAction-Output__1": BrowserGetStorageAction,
  "openhands__tools__browser_use__definition__BrowserGoBackAction-Output__1": BrowserGoBackAction,
  "openhands__tools__browser_use__definition__BrowserListTabsAction-Output__1": BrowserListTabsAction,
  "openhands__tools__browser_use__definition__BrowserNavigateAction-Output__1": BrowserNavigateAction,
  "openhands__tools__browser_use__definition__BrowserScrollAction-Output__1": BrowserScrollAction,
  "openhands__tools__browser_use__definition__BrowserSetStorageAction-Output__1": BrowserSetStorageAction,
  "openhands__tools__browser_use__definition__BrowserStartRecordingAction-Output__1":
    BrowserStartRecordingAction,
  "openhands__tools__browser_use__definition__BrowserStopRecordingAction-Output__1":
    BrowserStopRecordingAction,
  "openhands__tools__browser_use__definition__BrowserSwitchTabAction-Output__1": BrowserSwitchTabAction,
  "openhands__tools__browser_use__definition__BrowserTypeAction-Output__1": BrowserTypeAction,
  "openhands__tools__file_editor__definition__FileEditorAction-Output__1": FileEditorAction,
  "openhands__tools__gemini__edit__definition__EditAction-Output__1": EditAction,
  "openhands__tools__gemini__list_directory__definition__ListDirectoryAction-Output__1": ListDirectoryAction,
  "openhands__tools__gemini__read_file__definition__ReadFileAction-Output__1": ReadFileAction,
  "openhands__tools__gemini__write_file__definition__WriteFileAction-Output__1": WriteFileAction,
  "openhands__tools__glob__definition__GlobAction-Output__1": GlobAction,
  "openhands__tools__grep__definition__GrepAction-Output__1": GrepAction,
  "openhands__tools__planning_file_editor__definition__PlanningFileEditorAction-Output__1":
    PlanningFileEditorAction,
  "openhands__tools__task_tracker__definition__TaskTrackerAction-Output__1": TaskTrackerAction,
  "openhands__tools__terminal__definition__TerminalAction-Output__1": TerminalAction,
});
export type Action = Static<typeof Action>;

/** The kind names of Action. */
export type ActionKind = Action["kind"];

/** The schema of each action kind. */
export const actionSchemaByKind: Readonly<Record<ActionKind, TSchema> & Record<string, TSchema | undefined>> =
  {
    MCPToolAction,
    FinishAction,
    ThinkAction,
    BrowserAction,
    BrowserClickAction,
    BrowserCloseTabAction,
    BrowserGetContentAction,
    BrowserGetStateAction,
    BrowserGetStorageAction,
    BrowserGoBackAction,
    BrowserListTabsAction,
    BrowserNavigateAction,
    BrowserScrollAction,
    BrowserSetStorageAction,
    BrowserStartRecordingAction,
    BrowserStopRecordingAction,
    BrowserSwitchTabAction,
    BrowserTypeAction,
    FileEditorAction,
    EditAction,
    ListDirectoryAction,
    ReadFileAction,
    WriteFileAction,
    GlobAction,
    GrepAction,
    PlanningFileEditorAction,
    TaskTrackerAction,
    TerminalAction,
  };
