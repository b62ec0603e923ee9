import { expect, test } from "vitest";
import { endingOf, languageOf } from "./language-of.ts";
import { rangesOfLines } from "./line-ranges.ts";
import { tokenTypes, type TokenRanges } from "./token-types.ts";
import { openReader } from "./token-ranges.ts";

const read = openReader();

test("a text is coloured in ranges that follow each other", () => {
  const text = 'const answer = "x" + 42; // why';
  expect(named(text, read(text, "typescript"))).toEqual([
    ["const", "keyword"],
    ['"x"', "string"],
    ["42", "number"],
    ["// why", "comment"],
  ]);
});

test("a text in another language inside of one keeps its place", () => {
  const text = "<p>hello</p>\n<script>const a = 1;</script>\n<b>end</b>";
  const ranges = named(text, read(text, "xml"));
  expect(ranges).toContainEqual(["const", "keyword"]);
  expect(ranges).toContainEqual(["1", "number"]);
  expect(ranges.slice(-6).map(([range]) => range)).toEqual(["<", "b", ">", "</", "b", ">"]);
});

test("J29: markup in a text is places in it, whatever it says", () => {
  const text = "<img src=x onerror=alert(1)></script>\u0000 `${'</b>'}`";
  for (const language of ["xml", "typescript", "bash", "yaml"] as const) {
    const ranges = read(text, language);
    expect(ranges.every((number) => Number.isInteger(number))).toBe(true);
    const ends = [0, ...ranges].filter((_, index) => index % 3 !== 0 || index === 0);
    expect(ends.toSorted((one, other) => one - other)).toEqual(ends);
    expect(ends.at(-1)).toBeLessThanOrEqual(text.length);
  }
});

test("lines of one text have their parts of it, also of a range that spans several", () => {
  const lines = ["a /* one", "two", "", "three */ 1", ""];
  const ranges = read(lines.join("\n"), "javascript");
  expect(rangesOfLines(lines, ranges).map((own, index) => named(lines[index]!, own))).toEqual([
    [["/* one", "comment"]],
    [["two", "comment"]],
    [],
    [
      ["three */", "comment"],
      ["1", "number"],
    ],
    [],
  ]);
});

test.each([
  ["ts", "typescript"],
  ["Python", "python"],
  ["js {1,3}", "javascript"],
  ["rust,ignore", "rust"],
  ["console", "bash"],
  ["brainfuck", null],
  ["constructor", null],
  ["", null],
])("a block that says %j is in %j", (name, language) => {
  expect(languageOf(name)).toBe(language);
});

test("a file is in the language of its ending", () => {
  expect(["src/a.test.tsx", ".bashrc", "a.b/Makefile", "x."].map(endingOf)).toEqual([
    "tsx",
    "bashrc",
    "",
    "",
  ]);
});

function named(text: string, ranges: TokenRanges): (string | undefined)[][] {
  return Array.from({ length: ranges.length / 3 }, (_, index) => {
    const [from, to, tokenType] = ranges.slice(index * 3, index * 3 + 3);
    return [text.slice(from, to), tokenTypes[tokenType!]];
  });
}
