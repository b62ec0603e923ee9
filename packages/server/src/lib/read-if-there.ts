import { readFile } from "node:fs/promises";

/** The text of a file, null when there is none. */
export async function readIfThere(file: string): Promise<string | null> {
  return await ifThere(() => readFile(file, "utf8"));
}

/** What `find` resolves with; null where it finds no such file or folder. */
export async function ifThere<Found>(find: () => Promise<Found>): Promise<Found | null> {
  try {
    return await find();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
