import { stat } from "node:fs/promises";

/** False for what is missing, not readable, or no folder. */
export async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
