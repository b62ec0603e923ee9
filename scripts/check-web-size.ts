import path from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { buildPage } from "./web-page.ts";

/** U3 and U4, gzipped bytes that a browser loads before the first conversation is readable. */
const maxBytes = { script: 120 * 1_024, style: 20 * 1_024 };

const root = path.resolve(import.meta.dirname, "..");
const { values } = parseArgs({ options: { top: { type: "string", default: "5" } } });
const page = await buildPage(root, false);
const sizes = {
  script: sum(page.firstChunks.map(({ code }) => gzipSync(code).length)),
  style: sum(
    page.assets
      .filter(({ fileName }) => fileName.endsWith(".css"))
      .map(({ source }) => gzipSync(source).length),
  ),
};

for (const kind of ["script", "style"] as const) {
  const isOk = sizes[kind] > 0 && sizes[kind] <= maxBytes[kind];
  console.log(`${kind}: ${inKilobytes(sizes[kind])} of ${inKilobytes(maxBytes[kind])}, gzip`);
  if (!isOk) process.exitCode = 1;
}
const modules = page.firstChunks
  .flatMap((chunk) => Object.entries(chunk.modules))
  .toSorted(([, left], [, right]) => right.renderedLength - left.renderedLength);
for (const [file, { renderedLength }] of modules.slice(0, Number(values.top)))
  console.log(`  ${inKilobytes(renderedLength).padStart(9)}  ${path.relative(root, file)}`);

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function inKilobytes(bytes: number): string {
  return `${(bytes / 1_024).toFixed(1)} KB`;
}
