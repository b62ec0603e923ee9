import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { entryFile } from "./find-tool-host-program.ts";

/** The built web interface: of the checkout, or what the published package brings; null where it was not built. */
export function findWebDir(entry: string = entryFile): string | null {
  const folder = dirname(entry);
  const webDir = entry.endsWith(".ts") ? join(folder, "../../web/dist") : join(dirname(folder), "web");
  return existsSync(join(webDir, "index.html")) ? webDir : null;
}
