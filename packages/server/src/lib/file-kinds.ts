import { lstat } from "node:fs/promises";

/** False for what is missing, a link or anything else. */
export async function isRegularFile(path: string): Promise<boolean> {
  return await lstat(path).then(
    (found) => found.isFile(),
    // Missing, or not for this user.
    () => false,
  );
}
