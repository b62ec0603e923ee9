import { join } from "node:path";
import type { Tool, ToolContext } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { EditHistory } from "./edit-history.ts";
import { FileEditor } from "./file-editor.ts";

/** Views, creates and edits text files. Its description offers images to models with vision, or as the parameter `vision` says. */
export const fileEditorTool: Tool = {
  name: "file_editor",
  actionKind: "FileEditorAction",
  isReadOnly: false,
  traits: ({ workspaceDir }) => ({ file: { field: "path", base: workspaceDir } }),
  define: (context) =>
    defineTool(
      "FileEditor",
      "file_editor",
      describe(context),
      annotate("file_editor", { readOnly: false, destructive: true, idempotent: false, openWorld: false }),
    ),
  open: async (context) =>
    new FileEditor({
      workspaceDir: context.workspaceDir,
      history: new EditHistory(join(context.stateDir, "file-editor-history")),
    }),
};

function describe(context: ToolContext): string {
  const images =
    (context.params["vision"] ?? context.canSee) === true
      ? "\n  A picture (.png, .jpg, .jpeg, .gif, .webp, .bmp) is shown as a picture."
      : "";
  return `View, create and edit text files. Every path is absolute.

Commands:
- view: shows a file with line numbers, or only the lines view_range [first, last] of it (last = -1: to the end). For a directory it lists what is visible down to two levels.${images}
- create: writes file_text to a new file in an existing directory. It never overwrites; change existing files with the other commands.
- str_replace: replaces old_str by new_str. old_str must stand in the file exactly as given, white space included, and exactly once: take in as many lines around the change as make it unique. old_str and new_str must differ.
- insert: adds new_str as whole lines after line insert_line (0 = before the first line).
- undo_edit: takes back the last edit of the file; the last ten edits of each file are kept.

An edit answers with the changed lines and a few around them. A long view leaves out its middle, marked <response clipped>; the line numbers around the gap are the real ones, so ask for the missing range. Line ends, encoding and permissions of an edited file stay as they are. Files beyond 10 MiB and binary files are refused.
Several edits, also of one file, may be sent in one answer; they are made in order.`;
}
