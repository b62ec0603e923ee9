import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { templateFile } from "../packages/web/src/log/replay-template.ts";
import { hashPageSources, readPageRecord, writePageRecord } from "./page-record.ts";
import { pageSizes } from "./page-sizes.ts";
import { thirdPartyNotices } from "./third-party-notices.ts";

const texts = new Set([".css", ".js", ".svg", ".txt", ".webmanifest"]);

/**
 * Builds the page into `packages/web/dist`, where a server run from the sources finds it; `npm run build` copies it into the
 * published package. Each text file also gets compressed copies, `.br` and `.gz`. What was built from the same sources stays. Returns
 * the folder.
 */
export async function buildWeb(root: string): Promise<string> {
  const folder = path.join(root, "packages/web/dist");
  if (readPageRecord(root) !== null) return folder;
  const builtFrom = hashPageSources(root);
  const { buildPage } = await import("./web-page.ts");
  const { buildReplay } = await import("./build-replay.ts");
  const page = await buildPage(root, true);
  const replay = await buildReplay(root);
  writeFileSync(path.join(folder, templateFile), replay.template);
  writeFileSync(
    path.join(folder, "THIRD-PARTY-NOTICES.txt"),
    thirdPartyNotices([...new Set([...page.sources, ...replay.sources])]),
  );
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (texts.has(path.extname(file))) pack(path.join(folder, file));
  }
  writePageRecord(root, builtFrom, pageSizes(root, page));
  return folder;
}

function pack(file: string): void {
  const bytes = readFileSync(file);
  if (bytes.length < 1_024) return;
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
}

/** True when development dependencies are not installed: then the page cannot be built and is not needed. */
function isBuilderMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, "..");
  const startedAtMs = performance.now();
  try {
    await buildWeb(root);
    console.log(`packages/web/dist: built in ${((performance.now() - startedAtMs) / 1_000).toFixed(1)} s`);
  } catch (error) {
    if (!process.argv.includes("--if-possible") || !isBuilderMissing(error)) throw error;
    console.log("packages/web: not built, because the development dependencies are not installed");
  }
}
