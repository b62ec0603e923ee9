import { mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installExamples, listExamples } from "../scripts/examples/install-examples.ts";
import { runExample, skippedCode } from "../scripts/examples/run-example.ts";

const root = path.resolve(import.meta.dirname, "..");
const folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-examples-"));
beforeAll(async () => {
  await installExamples(root, folder.path);
});
afterAll(() => folder.remove());

test.concurrent.each(listExamples(root))("the example %s prints what is expected", async (name) => {
  const { code, output, stderr } = await runExample(folder.path, name);
  if (code === skippedCode) {
    console.log(`${name}: ${stderr.trim()}`);
    return;
  }
  const expected = readFileSync(path.join(root, "examples", name, "expected.txt"), "utf8");
  expect({ output, code }, stderr).toEqual({ output: expected, code: 0 });
});
