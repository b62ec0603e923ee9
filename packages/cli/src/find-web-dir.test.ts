import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findDocsDir, findWebDir } from "./find-web-dir.ts";

test.each([
  ["a checkout", "packages/cli/src/sandbox-host.ts", "packages/web/dist"],
  ["the published package", "convoke/lib/cli-sandbox-host.js", "convoke/web"],
])("S1: the page of %s is found where it was built, and only then", (_what, entry, webDir) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "convoke-web-"));
  expect(findWebDir(join(folder.path, entry))).toBe(null);
  for (const path of [dirname(entry), webDir]) mkdirSync(join(folder.path, path), { recursive: true });
  expect(findWebDir(join(folder.path, entry))).toBe(null);
  writeFileSync(join(folder.path, webDir, "index.html"), "");
  expect(findWebDir(join(folder.path, entry))).toBe(join(folder.path, webDir));
});

test.each([
  ["a checkout", "packages/cli/src/sandbox-host.ts", "site/dist"],
  ["the published package", "convoke/lib/cli-sandbox-host.js", "convoke/docs"],
])("the documentation of %s is found where it was built, and only then", (_what, entry, docsDir) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "convoke-docs-"));
  for (const path of [dirname(entry), docsDir]) mkdirSync(join(folder.path, path), { recursive: true });
  expect(findDocsDir(join(folder.path, entry))).toBe(null);
  writeFileSync(join(folder.path, docsDir, "index.html"), "");
  expect(findDocsDir(join(folder.path, entry))).toBe(join(folder.path, docsDir));
});
