import { stat, truncate, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { openEditorBench, textOf } from "../../testing/editor-bench.ts";
import { fileEditorTool } from "./file-editor-tool.ts";

test("tools 20.3.1: create writes a new file, also an empty one, and never overwrites", async () => {
  const bench = await openEditorBench();
  const path = bench.path("new.txt");
  expect(await bench.edit("create", "new.txt", { file_text: "one\n" })).toEqual({
    kind: "FileEditorObservation",
    content: [{ cache_prompt: false, type: "text", text: expect.stringContaining(path) }],
    is_error: false,
    command: "create",
    path,
    prev_exist: false,
    old_content: null,
    new_content: "one\n",
  });
  expect(await bench.edit("create", "empty.txt", { file_text: "" })).toMatchObject({
    is_error: false,
    new_content: "",
  });
  expect(await bench.read("new.txt")).toBe("one\n");
  expect(await bench.read("empty.txt")).toBe("");

  expect(await bench.error("create", "new.txt", { file_text: "two" })).toContain("exists already");
  expect(await bench.error("create", ".", { file_text: "two" })).toContain("exists already");
  expect(await bench.error("create", "absent/new.txt", { file_text: "" })).toContain("does not exist");
  expect(await bench.error("create", "other.txt", {})).toContain("file_text");
  expect(await bench.read("new.txt")).toBe("one\n");
});

test("tools 20.3.2: view shows a whole file with numbers", async () => {
  const bench = await openEditorBench({ "a.txt": "one\ntwo\n\nfour", "empty.txt": "" });
  expect(await bench.text("view", "a.txt")).toBe(
    `${bench.path("a.txt")}, 4 lines:\n     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n`,
  );
  expect(await bench.text("view", "empty.txt")).toContain("is empty");
  expect(await bench.edit("view", "a.txt")).toMatchObject({
    old_content: null,
    new_content: null,
    prev_exist: true,
  });
});

test("tools 20.3.2: view shows a range; a range beyond the end is cut with a note, a senseless one is an error", async () => {
  const bench = await openEditorBench({ "a.txt": "one\ntwo\nthree\n", "empty.txt": "" });
  const range = async (...view_range: number[]) => bench.text("view", "a.txt", { view_range });
  expect(await range(2, 3)).toMatch(/lines 2 to 3 of 3:\n {5}2\ttwo\n {5}3\tthree\n$/);
  expect(await range(3, -1)).toMatch(/:\n {5}3\tthree\n$/);
  expect(await range(2, 9)).toMatch(/^The file ends at line 3.*\n.*:\n {5}2\ttwo\n {5}3\tthree\n$/);
  for (const view_range of [[0, 1], [4, 5], [3, 2], [1, 2, 3], [1], [1, -2]]) {
    expect(await bench.error("view", "a.txt", { view_range })).toContain(
      `view_range: [${view_range.join(", ")}]`,
    );
  }
  expect(await bench.error("view", "empty.txt", { view_range: [1, 1] })).toContain("from 1 to 0");
  expect(await bench.error("view", ".", { view_range: [1, 2] })).toContain("directory");
});

test("tools 19.14: lines end at line feeds only, also in ranges", async () => {
  const bench = await openEditorBench({ "a.txt": "one\f\u2028x\ntwo\n" });
  expect(await bench.text("view", "a.txt", { view_range: [2, 2] })).toMatch(/of 2:\n {5}2\ttwo\n$/);
});

test("tools 20.3.3: view of a directory shows two levels, sorted, without hidden entries but with their count", async () => {
  const bench = await openEditorBench({
    "b.txt": "",
    "sub/c.txt": "",
    "sub/deep/d.txt": "",
    ".hidden": "",
    ".git/config": "",
    "sub/.x": "",
  });
  const text = await bench.text("view", ".");
  const dir = bench.path(".");
  const listed = text.split("\n").filter((line) => line.startsWith("/"));
  expect(listed).toEqual([`${dir}/`, `${dir}/b.txt`, `${dir}/sub/`, `${dir}/sub/c.txt`, `${dir}/sub/deep/`]);
  expect(text).toContain("2 hidden entries");
  expect(text).toContain("ls -A");
});

test("tools 20.3.4: a picture is shown as a data URL, a text beyond 10 MiB and a binary file are refused", async () => {
  const bench = await openEditorBench({
    "nul.dat": "a\0b",
    "large.txt": "",
    "text.pdf": "%PDF- is how they begin\n",
  });
  const pixels = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]);
  await writeFile(bench.path("dot.PNG"), pixels);
  await truncate(bench.path("large.txt"), 11 * 1024 * 1024);
  await writeFile(bench.path("real.pdf"), Buffer.from("%PDF-1.7\n\xe2\xe3\xcf\xd3\n", "latin1"));
  expect((await bench.edit("view", "dot.PNG")).content).toEqual([
    { cache_prompt: false, type: "text", text: expect.stringContaining("dot.PNG") },
    {
      cache_prompt: false,
      type: "image",
      image_urls: [`data:image/png;base64,${pixels.toString("base64")}`],
    },
  ]);
  const tooLarge = await bench.error("view", "large.txt");
  expect(tooLarge).toContain("11.0 MiB");
  expect(tooLarge).toContain("10 MiB");
  expect(await bench.error("view", "nul.dat")).toContain("binary");
  expect(await bench.error("view", "real.pdf")).toContain("binary");
  expect(await bench.text("view", "text.pdf")).toContain("%PDF-");
});

test("tools 20.3.5: str_replace changes the one occurrence and shows the surroundings", async () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`);
  const before = lines.join("");
  const bench = await openEditorBench({ "a.txt": before });
  const observation = await bench.edit("str_replace", "a.txt", {
    old_str: "line 10\n",
    new_str: "ten\nand a half\n",
  });
  const after = before.replace("line 10\n", "ten\nand a half\n");
  expect(observation).toMatchObject({
    is_error: false,
    path: bench.path("a.txt"),
    prev_exist: true,
    old_content: before,
    new_content: after,
  });
  expect(await bench.read("a.txt")).toBe(after);
  const numbers = textOf(observation)
    .match(/^ +\d+(?=\t)/gm)
    ?.map(Number);
  expect(numbers).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
});

test("tools 20.3.5: str_replace refuses what is absent, repeated, empty or equal", async () => {
  const bench = await openEditorBench({ "a.txt": "x\ny\nx x\nz\n" });
  const replace = async (old_str: string, new_str: string) =>
    bench.error("str_replace", "a.txt", { old_str, new_str });
  expect(await replace("absent", "b")).toContain('"absent"');
  expect(await replace("x", "b")).toContain("lines 1, 3.");
  expect(await replace("y", "y")).toContain("equals old_str");
  expect(await replace("", "b")).toContain("old_str");
  expect(await replace("   ", "b")).toContain("does not contain");
  expect(await bench.error("str_replace", "a.txt", { old_str: "y" })).toContain("Missing parameter new_str");
  expect(await bench.error("str_replace", "a.txt", { new_str: "y" })).toContain("Missing parameter old_str");
  expect(await bench.read("a.txt")).toBe("x\ny\nx x\nz\n");
});

test("tools 20.3.5: white space around old_str is forgiven, new_str stays as given", async () => {
  const bench = await openEditorBench({ "a.txt": "one two three\n" });
  await bench.edit("str_replace", "a.txt", { old_str: "\n  two\n", new_str: " 2 " });
  expect(await bench.read("a.txt")).toBe("one  2  three\n");
});

test("tools 20.3.6: insert at the start, in the middle, at the end, and not beyond", async () => {
  const bench = await openEditorBench({ "a.txt": "one\ntwo\n" });
  const insert = async (insert_line: number, new_str: string) => {
    await bench.edit("insert", "a.txt", { insert_line, new_str });
    return bench.read("a.txt");
  };
  expect(await insert(0, "zero")).toBe("zero\none\ntwo\n");
  expect(await insert(2, "a\nb")).toBe("zero\none\na\nb\ntwo\n");
  expect(await insert(5, "end")).toBe("zero\none\na\nb\ntwo\nend\n");
  expect(await bench.error("insert", "a.txt", { insert_line: 7, new_str: "x" })).toContain("from 0 to 6");
  expect(await bench.error("insert", "a.txt", { new_str: "x" })).toContain("insert_line");
  expect(await bench.error("insert", "a.txt", { insert_line: 1 })).toContain("new_str");
});

test("tools 19.15, tools 20.3.6: lines inserted after an unterminated last line stay separate", async () => {
  const bench = await openEditorBench({ "a.txt": "one\ntwo" });
  await bench.edit("insert", "a.txt", { insert_line: 2, new_str: "three" });
  expect(await bench.read("a.txt")).toBe("one\ntwo\nthree\n");
});

test("tools 20.3.7: the last ten edits can be taken back one by one, the eleventh cannot", async () => {
  const bench = await openEditorBench({ "a.txt": "0" });
  for (let step = 0; step < 11; step += 1) {
    await bench.edit("str_replace", "a.txt", { old_str: String(step), new_str: String(step + 1) });
  }
  for (let step = 10; step > 0; step -= 1) {
    expect(await bench.edit("undo_edit", "a.txt")).toMatchObject({
      is_error: false,
      old_content: String(step + 1),
      new_content: String(step),
    });
  }
  expect(await bench.error("undo_edit", "a.txt")).toContain("Nothing to undo");
  expect(await bench.read("a.txt")).toBe("1");
});

test("tools 19.15, tools 20.3.7: undo of create removes the file, unless something else changed it", async () => {
  const bench = await openEditorBench();
  await bench.edit("create", "a.txt", { file_text: "mine" });
  expect(await bench.edit("undo_edit", "a.txt")).toMatchObject({
    is_error: false,
    old_content: "mine",
    new_content: null,
  });
  await expect(stat(bench.path("a.txt"))).rejects.toThrow("ENOENT");

  await bench.edit("create", "a.txt", { file_text: "mine" });
  await writeFile(bench.path("a.txt"), "theirs");
  expect(await bench.error("undo_edit", "a.txt")).toContain("changed by other means");
  expect(await bench.read("a.txt")).toBe("theirs");
});

test("tools 19.15: an edit that could not be written leaves nothing to undo, and a failed undo can be repeated", async () => {
  const bench = await openEditorBench({ "a.txt": "one" });
  await bench.edit("str_replace", "a.txt", { old_str: "one", new_str: "two" });
  await writeFile(bench.path("a.txt"), "nul \0");
  expect(await bench.error("undo_edit", "a.txt")).toContain("binary");
  await writeFile(bench.path("a.txt"), "two");
  expect(await bench.edit("undo_edit", "a.txt")).toMatchObject({ new_content: "one" });
});

test("undo works after a restart", async () => {
  const bench = await openEditorBench({ "a.txt": "one" });
  await bench.edit("str_replace", "a.txt", { old_str: "one", new_str: "two" });
  await bench.reopen();
  await bench.edit("undo_edit", "a.txt");
  expect(await bench.read("a.txt")).toBe("one");
});

test("edits leave no temporary files behind", async () => {
  const bench = await openEditorBench({ "a.txt": "one" });
  await bench.edit("str_replace", "a.txt", { old_str: "one", new_str: "two" });
  await bench.edit("create", "b.txt", { file_text: "x" });
  await bench.error("create", "b.txt", { file_text: "y" });
  expect(await bench.list()).toEqual(["a.txt", "b.txt"]);
});

test("tools 20.3.10: a relative path is an error that suggests the absolute one", async () => {
  const bench = await openEditorBench({ "sub/a.txt": "x" });
  const suggestion = `Did you mean ${bench.path("sub/a.txt")}?`;
  const observation = await bench.run({ command: "view", path: "sub/a.txt" });
  expect(observation).toMatchObject({ is_error: true, command: "view", path: null });
  expect(textOf(observation)).toContain(suggestion);
  expect(textOf(await bench.run({ command: "view", path: "~/a.txt" }))).toContain("not absolute");
  expect(textOf(await bench.run({ command: "view", path: "/a\0b" }))).toContain("NUL");
});

test("a command that does not fit what is at its path is an error that says so", async () => {
  const bench = await openEditorBench({ "sub/a.txt": "x" });
  expect(await bench.error("view", "absent.txt")).toContain("does not exist");
  expect(await bench.error("view", "sub/a.txt/b")).toContain("does not exist");
  expect(await bench.error("undo_edit", "absent.txt")).toContain("does not exist");
  expect(await bench.error("str_replace", "sub", { old_str: "a", new_str: "b" })).toContain("only view");
  expect(textOf(await bench.run({ command: "view", path: "/dev/null" }))).toContain(
    "neither a file nor a directory",
  );
});

test("tools 19.14, tools 20.3.11: a view that is cut shows the true number of every line", async () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => `content of line ${index + 1}`);
  const bench = await openEditorBench({ "long.txt": lines.join("\n") });
  const text = await bench.text("view", "long.txt");
  const shown = [...text.matchAll(/^ *(\d+)\tcontent of line (\d+)$/gm)].map(([, number, content]) => [
    number,
    content,
  ]);
  expect(shown.length).toBeGreaterThan(500);
  expect(shown.every(([number, content]) => number === content)).toBe(true);
  expect(shown.at(-1)).toEqual(["5000", "5000"]);
  const [, first, last] = /<response clipped>.* lines (\d+) to (\d+)/.exec(text) ?? [];
  const numbers = shown.map(([number]) => Number(number));
  expect(numbers.indexOf(Number(first) - 1) + 1).toBe(numbers.indexOf(Number(last) + 1));
  const textLength = shown.reduce((sum, [number]) => sum + `content of line ${number}\n`.length, 0);
  expect(textLength).toBeLessThanOrEqual(16_000);
  expect(textLength).toBeGreaterThan(15_000);

  const wide = await openEditorBench({ "wide.txt": "x".repeat(100_000) });
  const cut = await wide.text("view", "wide.txt");
  expect(cut.length).toBeLessThan(16_400);
  expect(cut).toContain("<response clipped>");
});

test("tools 20.1.3: the definition names its kinds, and offers pictures on request", async () => {
  const bench = await openEditorBench();
  const definition = fileEditorTool.define(bench.context);
  expect(definition).toMatchObject({
    kind: "FileEditorTool",
    title: "file_editor",
    action_type: "FileEditorAction",
    observation_type: "FileEditorObservation",
    annotations: {
      title: "file_editor",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: false,
    },
    meta: null,
  });
  expect(definition.description).not.toContain(".png");
  expect(fileEditorTool.define({ ...bench.context, params: { vision: true } }).description).toContain(".png");
});
