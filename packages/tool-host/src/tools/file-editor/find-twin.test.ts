import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Action, Observation } from "@convoke/protocol";
import { expect, onTestFinished, test } from "vitest";
import { openTool } from "../../testing/open-tool.ts";
import type { Tool } from "../../tool.ts";
import { editTool } from "../files/edit-tool.ts";
import { listDirectoryTool } from "../files/list-directory-tool.ts";
import { readFileTool } from "../files/read-file-tool.ts";
import { writeFileTool } from "../files/write-file-tool.ts";
import { fileEditorTool } from "./file-editor-tool.ts";
import { findTwin } from "./find-twin.ts";

const names = {
  "Screenshot 10.00\u202fAM.txt": "narrow\n",
  "a\u00a0b/c\u3000d.txt": "deep\n",
  "e\u0301te\u0301.txt": "decomposed\n",
  "caf\u00e9.txt": "composed\n",
  "l\u2019an.txt": "quote\n",
  "two\u00a0x.txt": "1\n",
  "two\u202fx.txt": "2\n",
};

async function bench(tool: Tool) {
  const opened = await openTool(tool, names);
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return { ...opened, place: (name: string) => join(opened.context.workspaceDir, name) };
}

test("K18: a name that differs only in blanks, apostrophes or composed marks is found if it is the only one", async () => {
  const { place } = await bench(readFileTool);
  for (const [asked, found] of [
    ["Screenshot 10.00 AM.txt", "Screenshot 10.00\u202fAM.txt"],
    ["a b/c d.txt", "a\u00a0b/c\u3000d.txt"],
    ["\u00e9t\u00e9.txt", "e\u0301te\u0301.txt"],
    ["cafe\u0301.txt", "caf\u00e9.txt"],
    ["l'an.txt", "l\u2019an.txt"],
    ["two x.txt", "two x.txt"],
    ["a b/none.txt", "a b/none.txt"],
    ["cafe.txt", "cafe.txt"],
    ["a\u00a0b/c\u3000d.txt", "a\u00a0b/c\u3000d.txt"],
  ] as const)
    expect(await findTwin(place(asked))).toBe(place(found));
});

const calls: readonly [string, Tool, (path: string) => Action, string][] = [
  ["read_file", readFileTool, (file_path) => ({ kind: "ReadFileAction", file_path }), "narrow"],
  ["file_editor", fileEditorTool, (path) => ({ kind: "FileEditorAction", command: "view", path }), "narrow"],
  [
    "file_editor",
    fileEditorTool,
    (path) => ({
      kind: "FileEditorAction",
      command: "str_replace",
      path,
      old_str: "narrow",
      new_str: "wide",
    }),
    "wide",
  ],
  [
    "edit",
    editTool,
    (file_path) => ({ kind: "EditAction", file_path, old_string: "narrow", new_string: "wide" }),
    "wide",
  ],
  [
    "write_file",
    writeFileTool,
    (file_path) => ({ kind: "WriteFileAction", file_path, content: "new" }),
    "Replaced",
  ],
];

test.each(calls)("K18: %s uses the file whose name looks the same", async (_, tool, call, words) => {
  const { execute, place, list } = await bench(tool);
  const before = await list();
  const observation = await execute(call(place("Screenshot 10.00 AM.txt")));
  expect(observation).toMatchObject({ is_error: false });
  expect(textOf(observation)).toContain(words);
  expect(textOf(observation)).toContain("10.00\u202fAM");
  expect(await list()).toEqual(before);
});

test("K18: list_directory uses the folder whose name looks the same", async () => {
  const { execute } = await bench(listDirectoryTool);
  expect(textOf(await execute({ kind: "ListDirectoryAction", dir_path: "a b" }))).toContain("c\u3000d.txt");
});

test("K18: control characters of a file show as pictures, and an edit may name them so", async () => {
  const coloured = "\u001b[31mred\u001b[0m\u0007\nplain\n";
  const reading = await bench(readFileTool);
  await writeFile(reading.place("log.txt"), coloured);
  const read = await reading.execute({ kind: "ReadFileAction", file_path: "log.txt" });
  expect(textOf(read)).toContain("␛[31mred␛[0m␇");
  const editing = await bench(fileEditorTool);
  await mkdir(editing.place("x"), { recursive: true });
  await writeFile(editing.place("log.txt"), coloured);
  const edited = await editing.execute({
    kind: "FileEditorAction",
    command: "str_replace",
    path: editing.place("log.txt"),
    old_str: "␛[31mred␛[0m",
    new_str: "␛[32mgreen␛[0m",
  });
  expect(edited).toMatchObject({ new_content: "\u001b[32mgreen\u001b[0m\u0007\nplain\n" });
  expect(textOf(edited)).toContain("␛[32mgreen␛[0m␇");
});

function textOf(observation: Observation): string {
  return (observation.content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
}
