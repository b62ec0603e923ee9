import path from "node:path";
import { parseArgs } from "node:util";
import { readPageRecord } from "./page-record.ts";
import { pageSizes } from "./page-sizes.ts";

/** U3 and U4, gzipped bytes that a browser loads before the first conversation is readable. */
const maxBytes = { script: 120 * 1_024, style: 20 * 1_024 };

const root = path.resolve(import.meta.dirname, "..");
const { values } = parseArgs({ options: { top: { type: "string", default: "5" } } });
const sizes =
  readPageRecord(root) ?? pageSizes(root, await (await import("./web-page.ts")).buildPage(root, false));

for (const kind of ["script", "style"] as const) {
  const isOk = sizes[kind] > 0 && sizes[kind] <= maxBytes[kind];
  console.log(`${kind}: ${inKilobytes(sizes[kind])} of ${inKilobytes(maxBytes[kind])}, gzip`);
  if (!isOk) process.exitCode = 1;
}
for (const [file, bytes] of sizes.modules.slice(0, Number(values.top)))
  console.log(`  ${inKilobytes(bytes).padStart(9)}  ${file}`);

function inKilobytes(bytes: number): string {
  return `${(bytes / 1_024).toFixed(1)} KB`;
}
