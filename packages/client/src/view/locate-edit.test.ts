import { expect, test } from "vitest";
import { diffOf } from "./diff-lines.ts";
import { asRecord, type UnknownRecord } from "./unknown-record.ts";
import { editsOf } from "./edits.ts";
import { locateEdit } from "./locate-edit.ts";

const text = Array.from({ length: 9 }, (_, at) => `line ${at + 1}\n`).join("");

/** The changed lines with their numbers, or null if the edit cannot be located. */
function linesOf(fields: Record<string, unknown>, file = text): string[] | null {
  const action = asRecord(fields) as UnknownRecord;
  const [edit] = editsOf({ action, outcome: null });
  const placed = locateEdit(edit!, action, file);
  if (placed === null) return null;
  const lines = diffOf(placed as { before: string; after: string }).hunks.flatMap((hunk) => hunk.lines);
  return lines
    .filter(({ type }) => type !== "same")
    .map((line) => `${line.after ?? line.before} ${line.type} ${line.text}`);
}

const editor = (more: object) => ({ kind: "FileEditorAction", path: "/w/a", ...more });
const edit = (more: object) => ({ kind: "EditAction", file_path: "a", ...more });

test("a planned edit has the numbers of the lines of its file", () => {
  const change = ["4 removed line 4", "4 added LINE 4"];
  const replacing = { old_str: "line 4", new_str: "LINE 4" };
  expect(linesOf(editor({ command: "str_replace", ...replacing }))).toEqual(change);
  expect(
    linesOf({ ...editor({ command: "str_replace", ...replacing }), kind: "PlanningFileEditorAction" }),
  ).toEqual(change);
  expect(linesOf(edit({ old_string: "line 4", new_string: "LINE 4" }))).toEqual(change);
  expect(
    linesOf(edit({ old_string: "line 4\r\n", new_string: "LINE 4\r\n" }), text.replaceAll("\n", "\r\n")),
  ).toEqual(change);
  expect(linesOf(editor({ command: "insert", insert_line: 6, new_str: "more" }))).toEqual(["7 added more"]);
  expect(linesOf(editor({ command: "insert", insert_line: 9, new_str: "more" }))).toEqual(["10 added more"]);
  expect(linesOf(editor({ command: "insert", insert_line: 0, new_str: "more" }))).toEqual(["1 added more"]);
  expect(
    linesOf({ kind: "WriteFileAction", file_path: "a", content: text.replace("line 4", "LINE 4") }),
  ).toEqual(change);
  const twice = { old_string: "x", new_string: "y", expected_replacements: 2 };
  expect(linesOf(edit(twice), "a\nx\nb\nx\n")).toEqual([
    "2 removed x",
    "2 added y",
    "4 removed x",
    "4 added y",
  ]);
});

test("one that does not fit its file has no place", () => {
  expect(linesOf(editor({ command: "str_replace", old_str: "absent", new_str: "x" }))).toBeNull();
  expect(linesOf(editor({ command: "str_replace", old_str: "line", new_str: "x" }))).toBeNull();
  expect(linesOf(edit({ old_string: "line", new_string: "x", expected_replacements: 2 }))).toBeNull();
  expect(linesOf(edit({ old_string: "", new_string: "x" }))).toBeNull();
  expect(linesOf(editor({ command: "insert", insert_line: 10, new_str: "x" }))).toBeNull();
  expect(linesOf(editor({ command: "create", file_text: "x" }))).toBeNull();
});
