import { numberAt, textAt, type UnknownRecord } from "./unknown-record.ts";
import type { Edit } from "./edits.ts";

/**
 * A proposed edit within the current text of its file, so that lines have numbers; null if the replaced text does
 * not occur as often as the action expects.
 */
export function locateEdit(edit: Edit, action: UnknownRecord, given: string): Edit | null {
  const text = plain(given);
  const after = afterwards(action, text);
  if (after === null || !("before" in edit)) return null;
  return { path: edit.path, isNew: false, isDeleted: false, before: text, after };
}

function afterwards(action: UnknownRecord, text: string): string | null {
  switch (action["kind"]) {
    case "FileEditorAction":
    case "PlanningFileEditorAction":
      if (action["command"] === "str_replace")
        return replaced(text, textAt(action, "old_str"), textAt(action, "new_str"), 1);
      if (action["command"] === "insert")
        return inserted(text, numberAt(action, "insert_line") ?? -1, textAt(action, "new_str"));
      return null;
    case "EditAction": {
      const count = numberAt(action, "expected_replacements") ?? 1;
      return replaced(text, textAt(action, "old_string"), textAt(action, "new_string"), count);
    }
    case "WriteFileAction":
      return plain(textAt(action, "content"));
    default:
      return null;
  }
}

function replaced(text: string, before: string, after: string, count: number): string | null {
  if (before === "") return null;
  const parts = text.split(plain(before));
  return parts.length === count + 1 ? parts.join(plain(after)) : null;
}

function inserted(text: string, line: number, added: string): string | null {
  const lines = text.split("\n");
  const isEnded = lines.at(-1) === "";
  if (line < 0 || line > lines.length - (isEnded ? 1 : 0)) return null;
  return lines.toSpliced(line, 0, ...plain(added).split("\n")).join("\n");
}

/** Line endings are ignored: the tools keep those of the file. */
function plain(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
