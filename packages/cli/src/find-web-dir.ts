import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { entryFile } from "./find-tool-host-program.ts";

/** The built web interface: of the checkout, or what the published package brings; null where it was not built. */
export function findWebDir(entry: string = entryFile): string | null {
  return findBuilt(entry, "../../web/dist", "web");
}

/** The built documentation, as {@link findWebDir}. */
export function findDocsDir(entry: string = entryFile): string | null {
  return findBuilt(entry, "../../../site/dist", "docs");
}

/** A folder with an `index.html`: relative to the sources of the command, or to the published package. */
function findBuilt(entry: string, inCheckout: string, inPackage: string): string | null {
  const folder = dirname(entry);
  const built = entry.endsWith(".ts") ? join(folder, inCheckout) : join(dirname(folder), inPackage);
  return existsSync(join(built, "index.html")) ? built : null;
}
