import { randomBytes, scrypt } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ConfigError } from "../lib/config-error.ts";
import { readIfThere } from "../lib/read-if-there.ts";
import { writeOnce } from "../lib/write-once.ts";
import { createSecretBox, nextKeyFile, openSecretBox, SealError, type SecretBox } from "./seal.ts";

const derive = promisify<string, Buffer, number, Buffer>(scrypt);

const checked = "The key is the right one.";

/** Identifies the right secret. It exists exactly when the folder has no key file of its own. */
export function masterKeyCheck(dataDir: string): string {
  return join(dataDir, "master-key-check");
}

/**
 * Opens the secret box of a data folder. Its key is derived from `secret`, which is never stored, or read from the
 * folder's own key file. Rejects with {@link ConfigError} when the folder was used with another key.
 */
export async function openMasterKey(dataDir: string, secret: string | null): Promise<SecretBox> {
  const keyFile = join(dataDir, "master-key");
  const check = masterKeyCheck(dataDir);
  if (secret === null) {
    if (existsSync(check)) {
      throw new ConfigError(
        "The secrets of this data folder are sealed with a key that was configured. Give the same one again.",
      );
    }
    return await openBoxOf(keyFile);
  }
  if (existsSync(keyFile)) {
    throw new ConfigError(
      "This data folder has a master key of its own. Leave the secret key out, or use another folder.",
    );
  }
  return createSecretBox(await openConfiguredKey(secret, checkInFolder(dataDir)));
}

/** A text that is written once and stays. */
export type OnceWritten = {
  read(): Promise<string | null>;
  /** False when there is one. */
  writeOnce(text: string): Promise<boolean>;
};

/** The check of the secret, and that of a rotation in progress. */
export type KeyCheck = OnceWritten & {
  /** The check of the next secret; it exists only during a rotation. */
  readonly next: OnceWritten;
};

async function openBoxOf(keyFile: string): Promise<SecretBox> {
  try {
    return await openSecretBox(keyFile);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new ConfigError(`${error.message} Restore it from a backup.`, { cause: error });
  }
}

/** The check of a data folder, in files. Processes that start together write it once. */
export function checkInFolder(dataDir: string): KeyCheck {
  const file = masterKeyCheck(dataDir);
  return { ...fileOf(file), next: fileOf(nextKeyFile(file)) };
}

function fileOf(file: string): OnceWritten {
  return { read: () => readIfThere(file), writeOnce: (text) => writeOnce(file, `${text}\n`) };
}

/**
 * Derives the key from a secret and the check of an installation; the first process writes the check. Rejects with
 * {@link ConfigError} when the installation was used with another secret, or during a rotation.
 */
export async function openConfiguredKey(secret: string, check: KeyCheck): Promise<Buffer> {
  if ((await check.next.read()) !== null) {
    throw new ConfigError(
      'The secret key is being changed. When nobody is at it any more, end it with "convoke keys rotate-master", with both keys.',
    );
  }
  return await openCheck(secret, check, "The secret key is not the one that was used here before.");
}

/** The same for one of the checks; `refusal` is the message for a wrong secret. */
export async function openCheck(secret: string, check: OnceWritten, refusal: string): Promise<Buffer> {
  const known = await readKey(secret, check, refusal);
  if (known !== null) return known;
  const salt = randomBytes(16);
  const key = await derive(secret, salt, 32);
  if (await check.writeOnce(`${salt.toString("base64")} ${createSecretBox(key).seal(checked)}`)) return key;
  // Another process has written the check meanwhile.
  return (await readKey(secret, check, refusal)) ?? key;
}

/** Null when there is no check. */
export async function readKey(secret: string, check: OnceWritten, refusal: string): Promise<Buffer | null> {
  const [salt, sealed] = (await check.read())?.trim().split(" ") ?? [];
  if (salt === undefined || sealed === undefined) return null;
  const key = await derive(secret, Buffer.from(salt, "base64"), 32);
  try {
    createSecretBox(key).unseal(sealed);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new ConfigError(refusal, { cause: error });
  }
  return key;
}
