import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("U3: all of the client is at most 7 KB for a page, and brings no schema", async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [new URL("index.ts", import.meta.url).pathname],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
    metafile: true,
  });
  const foreign = Object.keys(metafile.inputs).filter((path) => !path.includes("client/src/"));
  expect(foreign).toEqual([]);
  expect(gzipSync(outputFiles[0]!.contents).length).toBeLessThan(7 * 1024);
});
