import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { chmod, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeOnce } from "../lib/write-once.ts";

/** Encrypts texts for storage. What it seals, only the same key opens. */
export interface SecretBox {
  seal(plain: string): string;
  /** Throws {@link SealError} when the text was sealed with another key or was altered. */
  unseal(sealed: string): string;
}

/** A sealed text that this key does not open. */
export class SealError extends Error {
  override readonly name = "SealError";
}

const prefix = "v1.";

/** AES-256-GCM with a random nonce per text. `key` has 32 bytes. */
export function createSecretBox(key: Buffer): SecretBox {
  return {
    seal(plain) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return prefix + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
    },
    unseal(sealed) {
      const bytes = Buffer.from(sealed.slice(prefix.length), "base64");
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
        decipher.setAuthTag(bytes.subarray(12, 28));
        return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
      } catch (cause) {
        throw new SealError(
          "A stored secret cannot be opened with this key file. Restore the key file it was sealed with.",
          {
            cause,
          },
        );
      }
    },
  };
}

/** Opens the box whose key is in `file`; makes the key with mode 0600 when there is none. Safe when two processes start at once. */
export async function openSecretBox(file: string): Promise<SecretBox> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeOnce(file, `${randomBytes(32).toString("base64")}\n`);
  await chmod(file, 0o600);
  const text = await readFile(file, "utf8");
  const key = Buffer.from(text.trim(), "base64");
  if (key.length !== 32) throw new SealError(`The key file ${file} does not hold 32 bytes in base64.`);
  return createSecretBox(key);
}
