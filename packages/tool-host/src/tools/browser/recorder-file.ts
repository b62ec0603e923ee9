import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * rrweb's recorder, which pages run. The build copies this one file beside the program (`scripts/copied-files.ts`), so that the
 * published package does not depend on rrweb's 14 packages; a checkout has it in the npm package.
 */
export function findRecorderFile(): string {
  const copy = fileURLToPath(new URL("./rrweb-record.cjs", import.meta.url));
  if (existsSync(copy)) return copy;
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve("@rrweb/record")), "record.umd.min.cjs");
}
