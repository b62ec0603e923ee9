import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("U3: a page has at most 5.5 KB of the client before its first stream, 8 KB in all, and no schema", async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [new URL("index.ts", import.meta.url).pathname],
    bundle: true,
    minify: true,
    format: "esm",
    splitting: true,
    outdir: "out",
    platform: "browser",
    write: false,
    metafile: true,
  });
  const foreign = Object.keys(metafile.inputs).filter((path) => !path.includes("client/src/"));
  expect(foreign).toEqual([]);
  const sizeOf = (files: typeof outputFiles): number =>
    files.reduce((total, { contents }) => total + gzipSync(contents).length, 0);
  const first = outputFiles.filter(({ path }) => !path.includes("streams-"));
  expect(first.length).toBeLessThan(outputFiles.length);
  expect(sizeOf(first)).toBeLessThan(5.5 * 1024);
  expect(sizeOf(outputFiles)).toBeLessThan(8 * 1024);
});
