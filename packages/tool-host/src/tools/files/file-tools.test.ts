import { chmod, lstat, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Action, Observation } from "@convoke/protocol";
import { expect, onTestFinished, test } from "vitest";
import { openTool } from "../../testing/open-tool.ts";
import type { Tool } from "../../tool.ts";
import { editTool } from "./edit-tool.ts";
import { listDirectoryTool } from "./list-directory-tool.ts";
import { readFileTool } from "./read-file-tool.ts";
import { writeFileTool } from "./write-file-tool.ts";

async function bench(tool: Tool, files: Readonly<Record<string, string>> = {}) {
  const opened = await openTool(tool, files);
  onTestFinished(() => opened[Symbol.asyncDispose]());
  const place = (name: string): string => join(opened.context.workspaceDir, name);
  return { ...opened, place };
}

const read = (file_path: string, more: object = {}): Action => ({
  kind: "ReadFileAction",
  file_path,
  ...more,
});
const write = (file_path: string, content: string): Action => ({
  kind: "WriteFileAction",
  file_path,
  content,
});
const edit = (
  file_path: string,
  old_string: string,
  new_string: string,
  expected_replacements = 1,
): Action => ({
  kind: "EditAction",
  file_path,
  old_string,
  new_string,
  expected_replacements,
});
const list = (more: object = {}): Action => ({ kind: "ListDirectoryAction", ...more });

function textOf(observation: Observation): string {
  return (observation.content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
}

const numbered = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

test("tools 20.4.1: read_file pages by offset and limit, 1,000 lines unless told, and says how to go on", async () => {
  const { execute, place } = await bench(readFileTool, { "a.txt": numbered(1_200), "b.txt": "x\r\ny" });
  const first = await execute(read("a.txt"));
  expect(first).toMatchObject({
    is_error: false,
    file_path: place("a.txt"),
    is_truncated: true,
    lines_shown: [1, 1_000],
    total_lines: 1_200,
  });
  expect(textOf(first)).toContain("use offset 1000");
  expect(textOf(first)).toContain("\n     1  line 1\n");
  const rest = await execute(read("a.txt", { offset: 1_000 }));
  expect(rest).toMatchObject({ is_truncated: false, lines_shown: [1_001, 1_200] });
  expect(textOf(rest)).not.toContain("use offset");
  expect(await execute(read("a.txt", { offset: 4, limit: 2 }))).toMatchObject({
    file_content: "line 5\nline 6",
    lines_shown: [5, 6],
  });
  expect(await execute(read(place("b.txt")))).toMatchObject({
    is_truncated: false,
    lines_shown: null,
    total_lines: 2,
    file_content: "x\ny",
  });
});

test("tools 20.4.2: an offset at the end is an error, an empty file is not", async () => {
  const { execute } = await bench(readFileTool, { "a.txt": "one\ntwo\n", empty: "" });
  const beyond = await execute(read("a.txt", { offset: 2 }));
  expect(beyond).toMatchObject({ is_error: true });
  expect(textOf(beyond)).toContain("from 0 to 1");
  expect(await execute(read("empty"))).toMatchObject({ is_error: false, total_lines: 0, lines_shown: null });
});

test("read_file limits long lines and files, and refuses non-text files", async () => {
  const { execute, place } = await bench(readFileTool, {
    long: "x".repeat(100_000),
    wide: `${"y".repeat(900)}\n`.repeat(100),
    binary: "a\0b",
    "picture.png": "not looked at",
  });
  const long = await execute(read("long"));
  expect(textOf(long).length).toBeLessThan(50_000);
  expect(long).toMatchObject({ is_truncated: true, lines_shown: [1, 1] });
  const wide = await execute(read("wide"));
  expect(textOf(wide)).toMatch(/use offset \d+/);
  expect(await execute(read("binary"))).toMatchObject({ is_error: true });
  expect(await execute(read("picture.png"))).toMatchObject({
    content: [
      { type: "text" },
      { type: "image", image_urls: [expect.stringContaining("data:image/png;base64,")] },
    ],
  });
  expect(await execute(read("missing"))).toMatchObject({ is_error: true, file_path: "missing" });
  await mkdir(place("folder"));
  expect(textOf(await execute(read("folder")))).toContain("list_directory");
});

test("tools 20.4.3: write_file makes parents, says whether the file is new and what it was", async () => {
  const { execute, place } = await bench(writeFileTool);
  expect(await execute(write("deep/er/a.txt", "one\n"))).toMatchObject({
    is_error: false,
    is_new_file: true,
    old_content: null,
    new_content: "one\n",
    file_path: place("deep/er/a.txt"),
  });
  await chmod(place("deep/er/a.txt"), 0o755);
  expect(await execute(write(place("deep/er/a.txt"), "two\n"))).toMatchObject({
    is_new_file: false,
    old_content: "one\n",
    new_content: "two\n",
  });
  expect((await stat(place("deep/er/a.txt"))).mode & 0o777).toBe(0o755);
  expect(await readFile(place("deep/er/a.txt"), "utf8")).toBe("two\n");
  expect(await execute(write("deep", "x"))).toMatchObject({ is_error: true, file_path: null });
  expect(await execute(write("", "x"))).toMatchObject({ is_error: true });
});

test("write_file preserves a link and a byte order mark, and replaces non-text files", async () => {
  const { execute, place } = await bench(writeFileTool, { target: "old", binary: "a\0b" });
  await symlink("target", place("link"));
  await execute(write("link", "new"));
  expect((await lstat(place("link"))).isSymbolicLink()).toBe(true);
  expect(await readFile(place("target"), "utf8")).toBe("new");
  await writeFile(place("marked"), "\ufeffold");
  expect(await execute(write("marked", "new"))).toMatchObject({ old_content: "old" });
  expect(await readFile(place("marked"), "utf8")).toBe("\ufeffnew");
  expect(await execute(write("binary", "text"))).toMatchObject({ is_error: false, old_content: null });
});

test("tools 20.4.4: edit with an empty old_string creates, and refuses to where something is", async () => {
  const { execute, place } = await bench(editTool, { "a.txt": "x" });
  expect(await execute(edit("new/b.txt", "", "text"))).toMatchObject({
    is_new_file: true,
    replacements_made: 1,
    new_content: "text",
    file_path: place("new/b.txt"),
  });
  expect(await execute(edit("a.txt", "", "text"))).toMatchObject({ is_error: true, replacements_made: 0 });
  expect(await readFile(place("a.txt"), "utf8")).toBe("x");
});

test("tools 20.4.5, 20.4.6, 20.4.7: edit replaces exactly as often as expected", async () => {
  const { execute, place } = await bench(editTool, { "a.txt": "x y x\nx\n" });
  const mismatch = await execute(edit("a.txt", "x", "z", 2));
  expect(mismatch).toMatchObject({ is_error: true, old_content: null });
  expect(textOf(mismatch)).toMatch(/2 expected.*3 times.*lines 1, 2/);
  expect(await execute(edit("a.txt", "x", "z", 3))).toMatchObject({
    replacements_made: 3,
    old_content: "x y x\nx\n",
    new_content: "z y z\nz\n",
  });
  expect(await execute(edit("a.txt", "z", "z", 3))).toMatchObject({ is_error: true });
  expect(await execute(edit("a.txt", "q", "r"))).toMatchObject({ is_error: true });
  expect(await execute(edit("missing", "q", "r"))).toMatchObject({ is_error: true });
  expect(await execute(edit(".", "q", "r"))).toMatchObject({ is_error: true });
  expect(await readFile(place("a.txt"), "utf8")).toBe("z y z\nz\n");
});

test("edit keeps CRLF, whatever form the model writes, in every place", async () => {
  const { execute, place } = await bench(editTool, { "a.txt": "a\r\nb\r\na\r\nb\r\n" });
  await execute(edit("a.txt", "a\nb", "c\nd", 2));
  expect(await readFile(place("a.txt"), "utf8")).toBe("c\r\nd\r\nc\r\nd\r\n");
});

test("K20: a path below a file, and a broken link, are named", async () => {
  for (const [tool, call] of [
    [writeFileTool, (name: string) => write(name, "x")],
    [editTool, (name: string) => edit(name, "", "x")],
  ] as const) {
    const { execute, place, list: names } = await bench(tool, { "file.txt": "x" });
    await symlink("nowhere/target.txt", place("link.txt"));
    await symlink("nowhere", place("folder"));
    const before = await names();
    const refusal = async (name: string): Promise<string> => {
      const refused = await execute(call(name));
      expect(refused).toMatchObject({ is_error: true });
      return textOf(refused);
    };
    expect(await refusal("file.txt/x")).toContain("file.txt is a file and no directory");
    expect(await refusal("file.txt/deep/er/x")).toContain("file.txt is a file and no directory");
    expect(await refusal("link.txt")).toContain("is a link to nowhere/target.txt, which does not exist");
    expect(await refusal("folder/x")).toContain("folder is a link to a directory that does not exist");
    expect(await names()).toEqual(before);
  }
});

test("K12: an edit of a file with LF writes LF, whatever form the model writes", async () => {
  const { execute, place } = await bench(editTool, {
    "lf.txt": "a\nb\nc\n",
    "one.txt": "a",
    "mixed.txt": "a\r\nb\nc\nd\n",
  });
  expect(await execute(edit("lf.txt", "a\r\nb", "A\r\nB"))).toMatchObject({ new_content: "A\nB\nc\n" });
  expect(await readFile(place("lf.txt"), "utf8")).toBe("A\nB\nc\n");
  await execute(edit("lf.txt", "c", "C\r\nD"));
  expect(await readFile(place("lf.txt"), "utf8")).toBe("A\nB\nC\nD\n");
  await execute(edit("one.txt", "a", "a\r\nb\r\n"));
  expect(await readFile(place("one.txt"), "utf8")).toBe("a\r\nb\r\n");
  await execute(edit("mixed.txt", "c\nd", "C\r\nD"));
  await execute(edit("mixed.txt", "a\r\nb", "A\r\nB"));
  expect(await readFile(place("mixed.txt"), "utf8")).toBe("A\r\nB\nC\nD\n");
});

test("K12: write_file keeps the line ends of the file, and says so", async () => {
  const { execute, place } = await bench(writeFileTool, {
    "crlf.txt": "a\r\nb\r\n",
    "lf.txt": "a\nb\n",
    "none.txt": "a",
  });
  const written = await execute(write("crlf.txt", "a\nB\n"));
  expect(written).toMatchObject({ old_content: "a\r\nb\r\n", new_content: "a\r\nB\r\n" });
  expect(textOf(written)).toContain("stay CR LF");
  expect(await readFile(place("crlf.txt"), "utf8")).toBe("a\r\nB\r\n");
  expect(textOf(await execute(write("crlf.txt", "a\r\nb\r\n")))).not.toContain("line ends");
  expect(textOf(await execute(write("lf.txt", "a\r\nB\n")))).toContain("stay LF");
  expect(await readFile(place("lf.txt"), "utf8")).toBe("a\nB\n");
  await execute(write("none.txt", "a\r\nb\n"));
  expect(await readFile(place("none.txt"), "utf8")).toBe("a\r\nb\n");
  await writeFile(place("wide.txt"), Buffer.from("\ufeffa\r\nb\r\n", "utf16le"));
  await execute(write("wide.txt", "c\nd\n"));
  expect(await readFile(place("wide.txt"), "utf16le")).toBe("\ufeffc\r\nd\r\n");
});

test("tools 20.4.8, 20.4.10: list_directory shows the model the names, and times have a zone", async () => {
  const { execute, place } = await bench(listDirectoryTool, { "b.txt": "12345", ".hidden": "", "dir/c": "" });
  const listed = await execute(list());
  expect(listed).toMatchObject({
    is_error: false,
    dir_path: place("").replace(/\/$/, ""),
    total_count: 3,
    is_truncated: false,
    entries: [
      { name: "dir", path: place("dir"), is_directory: true, size: 0 },
      { name: ".hidden", is_directory: false, size: 0 },
      { name: "b.txt", is_directory: false, size: 5, modified_time: expect.stringMatching(/Z$/) },
    ],
  });
  expect(textOf(listed)).toMatch(/dir\/\n\.hidden \(0 bytes\)\nb\.txt \(5 bytes\)$/);
});

test("tools 20.4.9: recursive goes one directory down, enters no link, and stops at 500 entries", async () => {
  const { execute, place } = await bench(listDirectoryTool, { "a/b/c": "", "a/d": "" });
  await symlink("a", place("link"));
  await symlink("nowhere", place("broken"));
  const deep = await execute(list({ recursive: true }));
  expect(deep).toMatchObject({ total_count: 5 });
  expect(textOf(deep)).toMatch(/a\/\na\/b\/\na\/d \(0 bytes\)\nlink\/\nbroken \(\d+ bytes\)$/);
  await mkdir(place("many"));
  await Promise.all(Array.from({ length: 501 }, (_, index) => writeFile(place(`many/${index}`), "")));
  const many = await execute(list({ dir_path: "many" }));
  expect(many).toMatchObject({ total_count: 501, is_truncated: true });
  expect("entries" in many && many.entries).toHaveLength(500);
  expect(await execute(list({ dir_path: "a/d" }))).toMatchObject({ is_error: true, dir_path: null });
  expect(await execute(list({ dir_path: "none" }))).toMatchObject({ is_error: true });
});
