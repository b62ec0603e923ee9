import { facesOf, type Tool, type ToolSet } from "./tool.ts";
import { applyPatchTool } from "./tools/apply-patch/apply-patch-tool.ts";
import { createBrowserToolSet, type BrowserToolSetOptions } from "./tools/browser/browser-tool-set.ts";
import { fileEditorTool } from "./tools/file-editor/file-editor-tool.ts";
import { finishTool } from "./tools/finish.ts";
import { editTool } from "./tools/files/edit-tool.ts";
import { listDirectoryTool } from "./tools/files/list-directory-tool.ts";
import { readFileTool } from "./tools/files/read-file-tool.ts";
import { writeFileTool } from "./tools/files/write-file-tool.ts";
import { planningFileEditorTool } from "./tools/planning-file-editor/planning-file-editor-tool.ts";
import { globTool } from "./tools/glob/glob-tool.ts";
import { grepTool } from "./tools/grep/grep-tool.ts";
import { taskTrackerTool } from "./tools/task-tracker/task-tracker-tool.ts";
import { terminalTool } from "./tools/terminal/terminal-tool.ts";
import { createTerminalToolSet } from "./tools/terminals/terminal-tool-set.ts";
import { thinkTool } from "./tools/think.ts";

export type DefaultToolOptions = BrowserToolSetOptions;

/** Every tool that this package brings. */
export function defaultTools(options: DefaultToolOptions = {}): (Tool | ToolSet)[] {
  return [
    terminalTool,
    fileEditorTool,
    taskTrackerTool,
    globTool,
    grepTool,
    thinkTool,
    finishTool,
    readFileTool,
    writeFileTool,
    editTool,
    listDirectoryTool,
    planningFileEditorTool,
    applyPatchTool,
    createBrowserToolSet(options),
    createTerminalToolSet(),
  ];
}

/** Only their names are read; they are never opened. */
const listed = defaultTools();

/** The names of tool sets, with the names that the model can call in each. */
export const toolSetMembers: ReadonlyMap<string, readonly string[]> = new Map(
  listed.flatMap((tool) =>
    "faces" in tool ? [[tool.name, tool.faces.map(({ name }) => name)] as const] : [],
  ),
);

/** All names that the model can call; no other tool may have one of them. */
export const defaultToolNames: readonly string[] = listed.flatMap((tool) =>
  facesOf(tool).map(({ name }) => name),
);
