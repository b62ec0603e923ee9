import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { installExamples, listExamples } from "./examples/install-examples.ts";
import { runExample, skippedCode } from "./examples/run-example.ts";

/**
 * Runs the examples from the packed tarballs of `dist` and compares what each prints with its `expected.txt`.
 *
 * Usage: npm run examples [-- [--write] [name...]]
 *   --write  stores what they print as expected
 */
const root = path.resolve(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  options: { write: { type: "boolean", default: false } },
  allowPositionals: true,
});
const known = listExamples(root);
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0)
  throw new Error(`no such example: ${unknown.join(", ")}; there are ${known.join(", ")}`);

using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-examples-"));
await installExamples(root, folder.path);
let failures = 0;
for (const name of positionals.length > 0 ? positionals : known) {
  const startedAtMs = performance.now();
  const failure = await check(name);
  if (failure !== null) failures += 1;
  const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
  console.log(`${failure === null ? "ok    " : "failed"}  ${name.padEnd(18)} ${seconds.padStart(6)} s`);
  if (failure !== null) console.log(failure);
}
process.exitCode = failures === 0 ? 0 : 1;

/** Null when it printed what is expected. */
async function check(name: string): Promise<string | null> {
  const file = path.join(root, "examples", name, "expected.txt");
  const { code, output, stderr } = await runExample(folder.path, name);
  if (code === skippedCode) {
    console.log(stderr.trim());
    return null;
  }
  if (code !== 0) return `it ended with ${code}\n${output}${stderr}`;
  if (values.write) writeFileSync(file, output);
  const expected = readFileSync(file, "utf8");
  return output === expected ? null : `expected:\n${expected}printed:\n${output}${stderr}`;
}
