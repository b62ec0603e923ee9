import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { listSourceFiles } from "./source-files.ts";

const root = path.resolve(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

test("what exists only for speed names rows of bench/budget.json", () => {
  const rows = new Set(Object.keys(JSON.parse(read("bench/budget.json")) as object));
  const named = listSourceFiles(root, ["packages"], [".ts", ".tsx"]).flatMap((file) =>
    [...read(file).matchAll(/^ \* Only for speed: (.*)$/gm)].flatMap(([, list = ""]) =>
      list.split(", ").map((row) => ({ file, row })),
    ),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter(({ row }) => !rows.has(row))).toEqual([]);
});
