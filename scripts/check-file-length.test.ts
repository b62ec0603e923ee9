import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { checkFileLength } from "./check-file-length.ts";

test("500 lines fail, more than 300 are noted, generated and golden files are left out", () => {
  using root = mkdtempDisposableSync(path.join(tmpdir(), "convoke-length-"));
  const write = (file: string, lines: number, end = "\n"): void => {
    mkdirSync(path.join(root.path, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root.path, file), Array.from({ length: lines }, () => "x").join("\n") + end);
  };
  write("packages/a/src/long.ts", 500);
  write("packages/a/src/longer.ts", 501, "");
  write("packages/a/src/long.int.test.ts", 499);
  write("scripts/noted.ts", 301);
  write("scripts/fine.ts", 300);
  write("packages/a/src/kinds.generated.ts", 900);
  write("packages/a/src/golden/log.ts", 900);
  write("packages/a/node_modules/b/index.ts", 900);
  write("packages/a/notes.md", 900);

  expect(checkFileLength(root.path)).toEqual({
    fileCount: 5,
    tooLong: ["packages/a/src/longer.ts (501)", "packages/a/src/long.ts (500)"],
    notes: ["packages/a/src/long.int.test.ts (499)", "scripts/noted.ts (301)"],
  });
});

test("an empty tree counts no files", () => {
  using root = mkdtempDisposableSync(path.join(tmpdir(), "convoke-length-"));
  expect(checkFileLength(root.path).fileCount).toBe(0);
});
