import type { GrepObservation } from "@convoke/protocol";
import { execFile } from "node:child_process";
import { chmod, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import iconv from "iconv-lite";
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

test("unreadable files do not hide readable ones", async () => {
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
  // Opening a pipe without a writer would block the search for ever.
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

test("K10: $ and ^ stand at CR LF as at LF, and a pattern may look for the CR", async () => {
  const bench = await openBench({
    "crlf.txt": "foo\r\nbar\r\n",
    "lf.txt": "foo\nbar\n",
    "bom.txt": "\ufefffoo\r\nx",
    "mixed.txt": "bar\nfoo\r\n",
  });
  await writeFile(join(bench.dir, "wide.txt"), Buffer.from("\ufefffoo\r\nbar\r\n", "utf16le"));
  const all = ["bom.txt", "crlf.txt", "lf.txt", "mixed.txt", "wide.txt"];
  for (const pattern of ["foo$", "^foo$", "^(?=f)foo$", "fo[^x]$", "(?<!x)foo$"])
    expect([pattern, await bench.names({ pattern })]).toEqual([pattern, all]);
  expect(await bench.names({ pattern: "foo$", path: "crlf.txt" })).toEqual(["crlf.txt"]);
  const withReturn = ["bom.txt", "crlf.txt", "mixed.txt", "wide.txt"];
  for (const pattern of [String.raw`foo\r$`, "foo\r", String.raw`foo\x0D$`])
    expect([pattern, await bench.names({ pattern })]).toEqual([pattern, withReturn]);
});

test("K10: a file in another encoding is searched as it is read, with its lines", async () => {
  const bench = await openBench({ "utf8.txt": "你好世界 中文\n", "ascii.txt": "none\n" }, { lines: true });
  const chinese = "这是一个用国标编码的文本文件。\r\n它有几行中文内容，用来测试搜索。\r\nname 中文\r\n";
  const russian = "Привет мир, это текстовый файл с русским текстом.\nА это его вторая строка.\n";
  const japanese = "これは日本語のテキストファイルです。\n検索のテストに使います。\n";
  const french = "déjà vu, une façon très française de répéter.\n".repeat(8);
  const files = [
    ["gbk.txt", chinese, "gbk", "中文$"],
    ["big5.txt", "這是一個繁體中文的文字檔案。\n內容用來測試搜尋功能。\n".repeat(4), "big5", "搜尋"],
    ["cp1251.txt", russian, "windows-1251", "ВТОРАЯ"],
    ["koi8.txt", russian.repeat(3), "koi8-r", "текстом\\.$"],
    ["sjis.txt", japanese.repeat(3), "shift_jis", "検索"],
    ["eucjp.txt", japanese.repeat(3), "euc-jp", "^検索.*使います"],
    ["euckr.txt", "이것은 한국어 텍스트 파일입니다.\n검색을 시험합니다.\n".repeat(3), "euc-kr", "검색"],
    ["latin1.txt", french, "latin1", "fa.on tr.s"],
    ["wide-le.txt", `\ufeff${chinese}`, "utf-16le", "中文$"],
    ["wide-be.txt", `\ufeff${chinese}`, "utf-16be", "中文$"],
  ] as const;
  for (const [name, text, encoding] of files)
    await writeFile(join(bench.dir, name), iconv.encode(text, encoding));
  for (const [name, , , pattern] of files) {
    expect([name, await bench.names({ pattern })]).toEqual([name, expect.arrayContaining([name])]);
    const alone = await bench.grep({ pattern, path: name });
    expect(textOf(alone)).not.toContain("\ufffd");
    expect(alone.matches).toEqual([join(bench.dir, name)]);
  }
  expect(textOf(await bench.grep({ pattern: "name", path: "gbk.txt" }))).toContain("3: name 中文");
  const both = await bench.grep({ pattern: "中文" });
  expect(both.matches).toContain(join(bench.dir, "utf8.txt"));
  expect(textOf(both)).not.toContain("\ufffd");
});

test("K11: include finds names with brackets, braces and other special characters", async () => {
  const files = {
    "[id].tsx": "foo",
    "i.tsx": "foo",
    "app/[id]/a.ts": "foo",
    "{x}.json": "foo",
    "a{b": "foo",
    "#x": "foo",
  };
  const bench = await openBench(files);
  expect(await bench.names({ pattern: "foo", include: "[id].tsx" })).toEqual(["[id].tsx", "i.tsx"]);
  expect(await bench.names({ pattern: "foo", include: "app/[id]/*.{ts,tsx}" })).toEqual(["app/[id]/a.ts"]);
  expect(await bench.names({ pattern: "foo", include: "{x}.json" })).toEqual(["{x}.json"]);
  expect(await bench.names({ pattern: "foo", include: "a{b" })).toEqual(["a{b"]);
  expect(await bench.names({ pattern: "foo", include: "#x" })).toEqual(["#x"]);
  expect(await bench.names({ pattern: "foo", path: "app/[id]" })).toEqual(["app/[id]/a.ts"]);
  expect(await bench.names({ pattern: "foo", path: "[id].tsx" })).toEqual(["[id].tsx"]);
});

test("K10: files of all encodings come newest first, a hundred at most", async () => {
  const bench = await openBench({ "old.txt": "déjà\n", "new.txt": "déjà\n" });
  await writeFile(
    join(bench.dir, "middle.txt"),
    iconv.encode("déjà vu, façon française\n".repeat(9), "latin1"),
  );
  await Promise.all(
    ["old.txt", "middle.txt", "new.txt"].map(async (name, index) =>
      utimes(join(bench.dir, name), index + 1, index + 1),
    ),
  );
  expect((await bench.grep({ pattern: "d.j.", include: "*.txt" })).matches).toEqual(
    ["new.txt", "middle.txt", "old.txt"].map((name) => join(bench.dir, name)),
  );
  for (let index = 0; index < 120; index += 1) await writeFile(join(bench.dir, `more${index}.txt`), "déjà\n");
  expect(await bench.grep({ pattern: "déjà" })).toMatchObject({ truncated: true, matches: { length: 100 } });
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
    /** The results, relative to the workspace and sorted. */
    names: async (input: Parameters<typeof grep>[0]) => {
      const observation = await grep(input);
      expect(observation).toMatchObject({ is_error: false });
      return observation.matches.map((file) => file.slice(dir.length + 1)).sort();
    },
  };
}
