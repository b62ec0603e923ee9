import { spawnSync } from "node:child_process";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { resolveToolFile } from "./resolve-tool-file.ts";

const root = path.resolve(import.meta.dirname, "..");

/** The linter's findings about two files, with this repository's settings. */
function lint(left: string, right: string): string {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-cycles-"));
  writeFileSync(path.join(folder.path, "left.ts"), left);
  writeFileSync(path.join(folder.path, "right.ts"), right);
  const linter = resolveToolFile(root, "oxlint", "oxlint");
  const settings = ["--config", path.join(root, ".oxlintrc.json")];
  return spawnSync(process.execPath, [linter, ...settings, folder.path], { encoding: "utf8" }).stdout;
}

test("the linter sees a circle of files, also one of types alone", () => {
  const right = 'export type Right = { readonly text: string };\nexport const right = "right";\n';
  const back = 'import type { Left } from "./left.ts";\nexport type Right = { readonly left: Left };\n';
  const left = 'import type { Right } from "./right.ts";\nexport type Left = { readonly right: Right };\n';
  expect(lint(left, right)).not.toContain("no-cycle");
  expect(lint(left, back)).toContain("no-cycle");
});
