import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const find = (...patterns: string[]): readonly string[] =>
  globSync(patterns, { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] });

/** Promises of the page: id to the tests that show it. */
const promises = new Map(
  [...read("docs/guides/web.md").matchAll(/^\| ([UJ]\d+) +\| .* \| ([a-z, ]+?) +\|$/gm)].map(
    ([, id = "", shownBy = ""]) => [id, shownBy.split(", ")] as const,
  ),
);

/** Ids at the start of titles: `J13, U15: ...`. */
const tested = new Set(
  find("{packages,e2e,scripts}/**/*.test.ts").flatMap((file) =>
    [...read(file).matchAll(/["'`]((?:[A-Z]+\d[\d.]*, )*[A-Z]+\d[\d.]*): /g)].flatMap(([, ids = ""]) =>
      ids.split(", ").filter((id) => /^[UJ]\d+$/.test(id)),
    ),
  ),
);

const idsIn = (files: readonly string[]): ReadonlySet<string> =>
  new Set(files.flatMap((file) => read(file).match(/\b[UJ]\d+\b/g) ?? []));

test("every promise of the page is in the table of its guide, and what the table says of it is there", () => {
  const ids = [
    ...Array.from({ length: 21 }, (_, index) => `U${index + 1}`),
    ...Array.from({ length: 31 }, (_, index) => `J${index + 1}`),
  ];
  expect([...promises.keys()]).toEqual(ids);
  const found: Readonly<Record<string, ReadonlySet<string>>> = {
    tests: tested,
    bench: idsIn(find("bench/web/*.ts")),
    check: idsIn(["scripts/check-web-size.ts"]),
    "not yet": new Set(ids),
  };
  const missing = [...promises].flatMap(([id, shownBy]) =>
    shownBy.filter((way) => found[way]?.has(id) !== true).map((way) => `${id}: ${way}`),
  );
  expect(missing).toEqual([]);
});

test("titles name promises that there are", () => {
  expect([...tested].filter((id) => !promises.has(id))).toEqual([]);
});
