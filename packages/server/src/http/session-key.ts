import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { makeDirectory } from "../lib/make-directory.ts";
import { readIfThere } from "../lib/read-if-there.ts";
import { writeOnce } from "../lib/write-once.ts";

export type SessionKey = { readonly key: string; readonly file: string; readonly isNew: boolean };

/** The data folder's own key; null when none was made yet. */
export async function readSessionKey(dataDir: string): Promise<SessionKey | null> {
  const file = join(dataDir, "session-api-key");
  const key = (await readIfThere(file))?.trim();
  return key ? { key, file, isNew: false } : null;
}

/** The data folder's own key, made when there is none; readable by this user only. */
export async function openSessionKey(dataDir: string): Promise<SessionKey> {
  const file = join(dataDir, "session-api-key");
  await makeDirectory(dataDir, 0o700);
  const isNew = await writeOnce(file, `${randomBytes(24).toString("base64url")}\n`);
  const stored = await readSessionKey(dataDir);
  if (stored === null) throw new Error(`The key file ${file} is empty. Remove it and start again.`);
  return { ...stored, isNew };
}
