import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { link, open, rm } from "node:fs/promises";

/**
 * Creates a private file (mode 0600) with this text unless it exists; durable when it resolves. A temporary file is
 * linked into place, so readers never see half of it and of several processes exactly one wins.
 */
export async function writeOnce(file: string, text: string): Promise<boolean> {
  if (existsSync(file)) return false;
  const draft = `${file}.${randomUUID()}`;
  try {
    await using handle = await open(draft, "wx", 0o600);
    await handle.writeFile(text);
    await handle.sync();
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
