import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { exampleBlocks, regionOf } from "./example-blocks.ts";
import { withoutChance } from "./run-example.ts";

const root = path.join(import.meta.dirname, "../..");

test("code blocks of guides that name an example are what the example has there", () => {
  const blocks = globSync("docs/**/*.md", { cwd: root }).flatMap((page) =>
    exampleBlocks(readFileSync(path.join(root, page), "utf8")).map((block) => ({ page, ...block })),
  );
  expect(blocks.length).toBeGreaterThan(10);
  for (const { page, file, region, code } of blocks) {
    const source = readFileSync(path.join(root, "examples", file), "utf8");
    expect({ page, file, region, code }).toEqual({ page, file, region, code: regionOf(source, region) });
  }
});

test("a region is the text between its marks, without those of others", () => {
  const source = "// region a\none\n// region b\ntwo\n// endregion b\n// endregion a\nthree\n";
  expect(regionOf(source, "a")).toBe("one\ntwo\n");
  expect(regionOf(source, "b")).toBe("two\n");
  expect(regionOf(source, null)).toBe("one\ntwo\nthree\n");
  expect(regionOf(source, "c")).toBe(null);
});

test("every example says what it is and what it prints", () => {
  for (const script of globSync("examples/*/run.sh", { cwd: root })) {
    const folder = path.join(root, path.dirname(script));
    expect(readFileSync(path.join(folder, "README.md"), "utf8")).toMatch(/^# /);
    expect(readFileSync(path.join(folder, "expected.txt"), "utf8")).not.toBe("");
  }
});

test("ids, times, ports and folders are the same in every run", () => {
  expect(
    withoutChance(
      "0198c0de-0000-7000-8000-000000000000 2026-01-31T12:00:00.5Z http://127.0.0.1:8123/ /tmp/tmp.Ab1/x",
    ),
  ).toBe("<id> <time> http://127.0.0.1:<port>/ <folder>/x");
});
