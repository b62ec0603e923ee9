import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { readIfThere } from "../lib/read-if-there.ts";
import { writeOnce } from "../lib/write-once.ts";
import { createSigner, type Signer } from "./signer.ts";

/** Encrypts and signs texts for storage; only the same key decrypts them and makes the same signature. */
export interface SecretBox extends Signer {
  seal(plain: string): string;
  /** Throws {@link SealError} when the text was sealed with another key or was altered. */
  unseal(sealed: string): string;
}

/** A sealed text that this key does not open. */
export class SealError extends Error {
  override readonly name = "SealError";
}

/** The opened text; null where its key is lost. */
export function unsealOrNull(box: Pick<SecretBox, "unseal">, sealed: string): string | null {
  try {
    return box.unseal(sealed);
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}

const prefix = "v1.";

/** AES-256-GCM with a random nonce per text. Keys have 32 bytes; texts of the older keys can be opened as well. */
export function createSecretBox(key: Buffer, olderKeys: readonly Buffer[] = []): SecretBox {
  // A key object is made once; with raw bytes each use would make one.
  const newest = createSecretKey(key);
  const candidates = [newest, ...olderKeys.map((older) => createSecretKey(older))];
  return {
    ...createSigner([key, ...olderKeys]),
    seal: (plain) => sealWith(newest, plain),
    unseal(sealed) {
      for (const candidate of candidates) {
        const plain = unsealWith(candidate, sealed);
        if (plain !== null) return plain;
      }
      throw new SealError(
        "A stored secret cannot be opened with this key file. Restore the key file it was sealed with.",
      );
    },
  };
}

/** Opens the box whose key is in `file`; makes the key with mode 0600 when there is none. Safe when two processes start at once. */
export async function openSecretBox(file: string): Promise<SecretBox> {
  const key = await openKeyFile(file);
  // Left by an unfinished rotation: some texts are sealed with this key already.
  const next = await readIfThere(nextKeyFile(file));
  return createSecretBox(key, next === null ? [] : [parseKey(next, nextKeyFile(file))]);
}

/** A rotation of the key in `file`. It takes effect when it is finished; after a crash it can be resumed. */
export interface KeyRotation extends KeyChange {
  /** Replaces the old key by the new one. Call it when everything is sealed with the new key. */
  finish(): Promise<void>;
}

/** Signs with the new key, and accepts signatures of both. */
export interface KeyChange extends Signer {
  /** The text sealed with the new key; null when it already is. Throws {@link SealError} when neither key opens it. */
  reseal(sealed: string): string | null;
}

export function createKeyChange(oldKey: Buffer, newKey: Buffer): KeyChange {
  const oldBox = createSecretBox(oldKey);
  const newest = createSecretKey(newKey);
  return {
    ...createSigner([newKey, oldKey]),
    reseal: (sealed) =>
      unsealWith(newest, sealed) === null ? sealWith(newest, oldBox.unseal(sealed)) : null,
  };
}

/** Begins or resumes a rotation; nobody else may use the key meanwhile. */
export async function openKeyRotation(file: string): Promise<KeyRotation> {
  const oldKey = await openKeyFile(file);
  const newKey = await openKeyFile(nextKeyFile(file));
  return {
    ...createKeyChange(oldKey, newKey),
    finish: () => takeNextKeyFile(file),
  };
}

/** Replaces the present key file by the next one. */
export async function takeNextKeyFile(file: string): Promise<void> {
  await rename(nextKeyFile(file), file);
  await using folder = await open(dirname(file));
  await folder.sync();
}

/** The suffix of the next key's file, during a rotation. */
export function nextKeyFile(file: string): string {
  return `${file}.next`;
}

async function openKeyFile(file: string): Promise<Buffer> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeOnce(file, `${randomBytes(32).toString("base64")}\n`);
  if (((await stat(file)).mode & 0o777) !== 0o600) await chmod(file, 0o600);
  return parseKey(await readFile(file, "utf8"), file);
}

function parseKey(text: string, file: string): Buffer {
  const key = Buffer.from(text.trim(), "base64");
  if (key.length !== 32) throw new SealError(`The key file ${file} does not hold 32 bytes in base64.`);
  return key;
}

function sealWith(key: KeyObject, plain: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
  return prefix + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
}

/** Null when the text was sealed with another key or was altered. */
function unsealWith(key: KeyObject, sealed: string): string | null {
  const bytes = Buffer.from(sealed.slice(prefix.length), "base64");
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
  } catch {
    // GCM fails on a text of another key; the caller tries the next key or refuses.
    return null;
  }
}
