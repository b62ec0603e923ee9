import type { Tool } from "./tool.ts";
import { fileEditorTool } from "./tools/file-editor/file-editor-tool.ts";
import { finishTool } from "./tools/finish.ts";
import { globTool } from "./tools/glob/glob-tool.ts";
import { grepTool } from "./tools/grep/grep-tool.ts";
import { taskTrackerTool } from "./tools/task-tracker/task-tracker-tool.ts";
import { terminalTool } from "./tools/terminal/terminal-tool.ts";
import { thinkTool } from "./tools/think.ts";

/** Every tool that this package brings. */
export function defaultTools(): Tool[] {
  return [terminalTool, fileEditorTool, taskTrackerTool, globTool, grepTool, thinkTool, finishTool];
}
