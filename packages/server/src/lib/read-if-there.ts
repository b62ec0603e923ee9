import { readFile } from "node:fs/promises";
import { ifThere } from "./if-there.ts";

/** The text of a file, null when there is none. */
export async function readIfThere(file: string): Promise<string | null> {
  return await ifThere(readFile(file, "utf8"), null);
}
