import type { GrepObservation } from "@convoke/protocol";
import { execFile } from "node:child_process";
import { chmod, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { watchLeaks } from "../../testing/leaks.ts";
import type { LeakCheck } from "../../testing/leaks.ts";
import { openTool } from "../../testing/open-tool.ts";
import { openTemporaryDirectory } from "../../testing/temporary-directory.ts";
import { findFiles } from "../ripgrep.ts";
import { grepTool } from "./grep-tool.ts";

let leaks: LeakCheck;
beforeEach(() => {
  leaks = watchLeaks();
});
afterEach(async () => leaks.assertNone());

test("tools 20.5.8: finds files by content, whatever the case, and answers with the fields of the wire", async () => {
  const bench = await openBench({ "a.py": "import FOO\n", "b.py": "bar\n" });
  expect(await bench.grep({ pattern: "foo", include: "*.py" })).toEqual({
    kind: "GrepObservation",
    content: [{ cache_prompt: false, type: "text", text: expect.stringContaining(join(bench.dir, "a.py")) }],
    is_error: false,
    matches: [join(bench.dir, "a.py")],
    pattern: "foo",
    search_path: bench.dir,
    include_pattern: "*.py",
    truncated: false,
  });
});

test("tools 19.7, tools 20.5.3: braces in include work", async () => {
  const bench = await openBench({ "a.ts": "foo", "b.tsx": "foo", "c.js": "foo", "src/d.ts": "foo" });
  expect(await bench.names({ pattern: "foo", include: "*.{ts,tsx}" })).toEqual(["a.ts", "b.tsx", "src/d.ts"]);
  expect(await bench.names({ pattern: "foo", include: "c.js" })).toEqual(["c.js"]);
  expect(await bench.names({ pattern: "foo", include: "*.ts", path: "src" })).toEqual(["src/d.ts"]);
});

test("tools 20.5.4: hidden, ignored and binary files are passed over unless include names them", async () => {
  const bench = await openBench({
    ".git/config": "foo",
    ".gitignore": "*.log\nbuild\n",
    ".env": "foo",
    ".cache/x.py": "foo",
    "build/y.py": "foo",
    "a.py": "foo",
    "b.log": "foo",
    "c.bin": "\0\0foo\0",
  });
  for (const include of [undefined, "", "*", "**", "**/*"]) {
    expect(await bench.names({ pattern: "foo", ...(include === undefined ? {} : { include }) })).toEqual([
      "a.py",
    ]);
  }
  expect(await bench.names({ pattern: "foo", include: "*.py" })).toEqual(["a.py"]);
  expect(await bench.names({ pattern: "foo", include: ".env" })).toEqual([".env"]);
  expect(await bench.names({ pattern: "foo", include: "*.log" })).toEqual(["b.log"]);
});

test("tools 20.5.5: the newest come first", async () => {
  const bench = await openBench({ "old.txt": "foo", "new.txt": "foo", "middle.txt": "foo" });
  for (const [name, seconds] of [
    ["old.txt", 1_000],
    ["middle.txt", 2_000],
    ["new.txt", 3_000],
  ] as const) {
    await utimes(join(bench.dir, name), seconds, seconds);
  }
  const { matches } = await bench.grep({ pattern: "foo" });
  expect(matches).toEqual(["new.txt", "middle.txt", "old.txt"].map((name) => join(bench.dir, name)));
});

test("tools 20.5.6: a hundred files are complete, one more is truncated to the newest hundred", async () => {
  const names = Array.from({ length: 100 }, (_, index) => `f${index}.txt`);
  const bench = await openBench(Object.fromEntries(names.map((name) => [name, "foo"])));
  expect(await bench.grep({ pattern: "foo" })).toMatchObject({ truncated: false, matches: { length: 100 } });
  await writeFile(join(bench.dir, "oldest.txt"), "foo");
  await utimes(join(bench.dir, "oldest.txt"), 1, 1);
  const observation = await bench.grep({ pattern: "foo" });
  expect(observation).toMatchObject({ truncated: true, matches: { length: 100 } });
  expect(observation.matches).not.toContain(join(bench.dir, "oldest.txt"));
});

test("tools 20.5.7: a bad directory, pattern or include is an error that says why", async () => {
  const bench = await openBench({ "a.txt": "foo" });
  expect(await bench.grep({ pattern: "foo", path: "absent" })).toMatchObject({ is_error: true, matches: [] });
  expect(await bench.grep({ pattern: "foo", path: "a.txt/b" })).toMatchObject({ is_error: true });
  for (const input of [
    { pattern: "(" },
    { pattern: "[z-a]" },
    { pattern: "foo", include: "*.{ts" },
    { pattern: "a\0" },
  ]) {
    const observation = await bench.grep(input);
    expect(observation).toMatchObject({ is_error: true, matches: [], pattern: input.pattern });
  }
  expect(JSON.stringify((await bench.grep({ pattern: "(" })).content)).toContain("unclosed group");
});

test("F26: with the parameter `lines` the text has the lines, and the fields stay those of the wire", async () => {
  const bench = await openBench(
    { "old.ts": "one\nfoo(1)\r\ntwo\nFOO(2)\n", "src/new.ts": `${"x".repeat(500)}foo\n`, "c.js": "foo" },
    { lines: true },
  );
  await utimes(join(bench.dir, "old.ts"), 1_000, 1_000);
  const [older, newer] = [join(bench.dir, "old.ts"), join(bench.dir, "src/new.ts")];
  expect(await bench.grep({ pattern: "foo", include: "*.ts" })).toEqual({
    kind: "GrepObservation",
    content: [
      {
        cache_prompt: false,
        type: "text",
        text:
          `3 lines in ${bench.dir} among "*.ts" with a match for "foo", newest files first:\n\n` +
          `${newer}\n1: ${"x".repeat(400)} (cut)\n\n${older}\n2: foo(1)\n4: FOO(2)`,
      },
    ],
    is_error: false,
    matches: [newer, older],
    pattern: "foo",
    search_path: bench.dir,
    include_pattern: "*.ts",
    truncated: false,
  });
  const none = await bench.grep({ pattern: "absent" });
  expect(none).toMatchObject({ is_error: false, matches: [] });
  expect(textOf(none)).toContain("No line in");
});

test("F26: more than 200 lines are truncated", async () => {
  const bench = await openBench({ "a.txt": "foo\n".repeat(200) }, { lines: true });
  expect(await bench.grep({ pattern: "foo" })).toMatchObject({ truncated: false });
  await writeFile(join(bench.dir, "a.txt"), "foo\n".repeat(5_000));
  const observation = await bench.grep({ pattern: "foo" });
  expect(observation).toMatchObject({ truncated: true, matches: [join(bench.dir, "a.txt")] });
  expect(textOf(observation)).toContain("\n200: foo\n");
  expect(textOf(observation)).not.toContain("\n201: foo\n");
});

test("F26: whose path is one file gets its lines, hidden and ignored ones too", async () => {
  const bench = await openBench({ ".gitignore": ".env\n", ".env": "A=1\nfoo=2\n", "b.bin": "foo\0foo" });
  const observation = await bench.grep({ pattern: "FOO", path: ".env", include: "*.py" });
  const file = join(bench.dir, ".env");
  expect(observation).toMatchObject({ is_error: false, matches: [file], search_path: file });
  expect(textOf(observation)).toContain(`${file}\n2: foo=2`);
  const binary = await bench.grep({ pattern: "foo", path: "b.bin" });
  expect(binary).toMatchObject({ is_error: false, matches: [join(bench.dir, "b.bin")] });
  expect(textOf(binary)).toContain("(a binary file)");
  await expect(openBench({}, { lines: "yes" })).rejects.toThrow("parameter lines must be true or false");
});

test("tools 19.7, tools 20.5.9: look-around and back references work", async () => {
  const bench = await openBench({ "a.txt": "foobar", "b.txt": "foobaz", "c.txt": "xyzxyz" });
  expect(await bench.names({ pattern: "foo(?!bar)" })).toEqual(["b.txt"]);
  expect(await bench.names({ pattern: "(?<=foo)bar" })).toEqual(["a.txt"]);
  expect(await bench.names({ pattern: String.raw`(xyz)\1` })).toEqual(["c.txt"]);
});

test("tools 19.2, tools 20.5.10: a pattern that begins with a dash is data and cannot run a program", async () => {
  const bench = await openBench({
    "a.txt": "use --pre=x here\n",
    "-b.txt": "foo\n",
    "evil.sh": "#!/bin/sh\ntouch ran\n",
  });
  await chmod(join(bench.dir, "evil.sh"), 0o755);
  const program = join(bench.dir, "evil.sh");
  expect(await bench.names({ pattern: `--pre=${program}` })).toEqual([]);
  expect(await bench.names({ pattern: "foo", include: `--pre=${program}` })).toEqual([]);
  expect(await bench.names({ pattern: "--pre=x" })).toEqual(["a.txt"]);
  expect(await bench.names({ pattern: "foo", include: "-b*" })).toEqual(["-b.txt"]);
  expect(await bench.list()).toEqual(["-b.txt", "a.txt", "evil.sh"]);
});

test("tools 20.5.11: no match is not an error and says so", async () => {
  const bench = await openBench({ "a.txt": "foo" });
  const observation = await bench.grep({ pattern: "bar" });
  expect(observation).toMatchObject({
    is_error: false,
    matches: [],
    truncated: false,
    include_pattern: null,
  });
  expect(JSON.stringify(observation.content)).toContain("No file");
});

test("what cannot be read does not hide what can", async () => {
  const bench = await openBench({ "a.txt": "foo" });
  const found = await findFiles({
    arguments: ["--files-with-matches", "-e", "foo", "--", "./absent", "./a.txt"],
    directory: bench.dir,
    environment: {},
    signal: new AbortController().signal,
  });
  expect(found).toEqual({ files: [join(bench.dir, "a.txt")], isTruncated: false });
});

test("tools 20.5.12, P14: a search that takes too long or is cancelled is ended, and its process is gone", async () => {
  await using directory = await openTemporaryDirectory();
  // Opening a pipe that nobody writes to blocks the search for ever.
  await promisify(execFile)("mkfifo", [join(directory.path, "pipe")]);
  const controller = new AbortController();
  const search = {
    arguments: ["--files-with-matches", "-e", "foo", "--", "./pipe"],
    directory: directory.path,
    environment: {},
    signal: controller.signal,
  };
  await expect(findFiles({ ...search, limitMs: 100 })).rejects.toThrow("longer than 0.1 seconds");
  const cancelled = findFiles(search);
  controller.abort();
  await expect(cancelled).rejects.toThrow("aborted");
});

function textOf({ content = [] }: GrepObservation): string {
  return content.map((part) => ("text" in part ? part.text : "")).join("");
}

async function openBench(
  files: Readonly<Record<string, string>>,
  params: Readonly<Record<string, unknown>> = {},
) {
  const bench = await openTool(grepTool, files, params);
  onTestFinished(async () => bench[Symbol.asyncDispose]());
  const dir = bench.context.workspaceDir;
  const grep = async (input: { pattern: string; path?: string; include?: string }) => {
    const observation = await bench.execute({ kind: "GrepAction", ...input });
    if (observation.kind !== "GrepObservation") throw new Error(`Unexpected ${observation.kind}`);
    return observation;
  };
  return {
    dir,
    grep,
    list: bench.list,
    /** What was found, relative to the workspace and sorted. */
    names: async (input: Parameters<typeof grep>[0]) => {
      const observation = await grep(input);
      expect(observation).toMatchObject({ is_error: false });
      return observation.matches.map((file) => file.slice(dir.length + 1)).sort();
    },
  };
}
