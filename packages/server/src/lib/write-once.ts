import { randomUUID } from "node:crypto";
import { link, open, unlink } from "node:fs/promises";

/**
 * Makes a private file (mode 0600) with this text unless it exists; durable when it resolves. It is written aside and linked
 * into place, so nobody ever reads half of it and of several processes exactly one wins.
 */
export async function writeOnce(file: string, text: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(draft);
  }
}
