import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

const sources = globSync(
  [
    "{packages,scripts,bench,e2e,test,docs}/**/*.{ts,tsx,mjs,py,sh,css,sql,md}",
    "{.ci,.github}/**/*",
    "bench/budget.json",
    "*.md",
  ],
  { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] },
).filter(
  (file) => path.extname(file) !== "" && file !== "docs/promises.md" && !file.endsWith("promises.test.ts"),
);

/** Ids of the promises page in order, with those of the linked web guide. */
const defined = [
  read("docs/promises.md").matchAll(/^- \*\*((?:[PWB]\d+|L\d+\.\d+|tools \d+\.\d+\.?\d*))\*\*/gm),
  read("docs/guides/web.md").matchAll(/^\| ([UJ]\d+) +\|/gm),
].flatMap((matches) => [...matches].map(([, id = ""]) => id));

/** The ids that a text cites: `P4`, `B6` of `B6.http`, `L23.29`; `tools 19.18, 20.2.14` counts as two. */
function citedIds(text: string): string[] {
  // Not after a dash (`2026-W05`) and not before a letter or digit (`B64`, `U8x`): those are other words.
  const plain = text.match(/(?<![\w\-+/=#$\\])(?:[PWBUJ]\d{1,2}|L\d{1,2}(?:\.\d+)?)(?!\w)/g) ?? [];
  const tools = [
    ...text.matchAll(/\btools ((?:\d+\.\d+(?:\.\d+)?|\d+(?=: ))(?:, (?:tools )?\d+\.\d+(?:\.\d+)?)*)/g),
  ].flatMap(([, list = ""]) => list.split(", ").map((id) => `tools ${id.replace("tools ", "")}`));
  return [...plain, ...tools];
}

test("every id that is cited anywhere is defined in docs/promises.md, or in the table of docs/guides/web.md", () => {
  const known = new Set(defined);
  const unknown = sources.flatMap((file) =>
    citedIds(read(file))
      .filter((id) => !known.has(id))
      .map((id) => `${file}: ${id}`),
  );
  expect(unknown).toEqual([]);
});

test("no id is defined twice", () => {
  expect(defined.length).toBeGreaterThan(200);
  expect(defined.filter((id, index) => defined.indexOf(id) !== index)).toEqual([]);
});

test.for([
  ["P4: a page", ["P4"]],
  ['test("P1, L23.16: results"', ["P1", "L23.16"]],
  ["tools 19.18, 20.2.14: exported", ["tools 19.18", "tools 20.2.14"]],
  ["tools 19.3, tools 20.3.9: a link", ["tools 19.3", "tools 20.3.9"]],
  ['id: "B4.10-sockets"', ["B4"]],
  ["a week is written 2026-W05", []],
  ["Uint8Array, U8x, P256, base64/P9, WGL, S256, P-384, 20 B", []],
] as const)("%s cites %j", ([text, ids]) => {
  expect(citedIds(text)).toEqual(ids);
});
