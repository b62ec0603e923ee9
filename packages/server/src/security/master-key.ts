import { randomBytes, scrypt } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ConfigError } from "../lib/config-error.ts";
import { readIfThere } from "../lib/read-if-there.ts";
import { writeOnce } from "../lib/write-once.ts";
import { createSecretBox, openSecretBox, SealError, type SecretBox } from "./seal.ts";

const derive = promisify<string, Buffer, number, Buffer>(scrypt);

const checked = "The key is the right one.";

/** Tells a wrong secret from the right one; there is one exactly when the folder has no key of its own. */
export function masterKeyCheck(dataDir: string): string {
  return join(dataDir, "master-key-check");
}

/**
 * The box of a data folder: its key comes from `secret`, of which nothing is stored, or without one from the folder's own
 * key file. Rejects with {@link ConfigError} when the folder was used with another key.
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
  return (await readCheck(check, secret)) ?? (await writeCheck(check, secret));
}

async function openBoxOf(keyFile: string): Promise<SecretBox> {
  try {
    return await openSecretBox(keyFile);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new ConfigError(`${error.message} Restore it from a backup.`, { cause: error });
  }
}

async function writeCheck(file: string, secret: string): Promise<SecretBox> {
  const salt = randomBytes(16);
  const box = createSecretBox(await derive(secret, salt, 32));
  if (await writeOnce(file, `${salt.toString("base64")} ${box.seal(checked)}\n`)) return box;
  // Another process was faster.
  return (await readCheck(file, secret)) ?? box;
}

/** Null when the folder was never used. */
async function readCheck(file: string, secret: string): Promise<SecretBox | null> {
  const [salt, sealed] = (await readIfThere(file))?.trim().split(" ") ?? [];
  if (salt === undefined || sealed === undefined) return null;
  const box = createSecretBox(await derive(secret, Buffer.from(salt, "base64"), 32));
  try {
    box.unseal(sealed);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new ConfigError("The secret key is not the one that this data folder was used with before.", {
      cause: error,
    });
  }
  return box;
}
