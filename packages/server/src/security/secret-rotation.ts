import { ConfigError } from "../lib/config-error.ts";
import { openCheck, readKey, type KeyCheck, type OnceWritten } from "./master-key.ts";
import { createKeyChange, type KeyRotation } from "./seal.ts";

/** A configured secret, and the next one that replaces it. */
export type SecretChange = { readonly present: string; readonly next: string };

export type SecretRotationDeps = SecretChange & {
  readonly check: KeyCheck;
  /** Replaces the present check by the next one, atomically. */
  readonly finish: () => Promise<void>;
};

/**
 * Begins or resumes the rotation of a configured secret; no server starts until it is finished. Null when it was
 * finished earlier. Rejects with {@link ConfigError} when a secret is wrong.
 */
export async function openSecretRotation({
  check,
  present,
  next,
  finish,
}: SecretRotationDeps): Promise<KeyRotation | null> {
  if (present === next) throw new ConfigError("The next secret key is the present one. Make another.");
  const oldKey = await readPresent(check, present, next);
  if (oldKey === null) return null;
  const newKey = await openCheck(
    next,
    check.next,
    "A change of the secret key was begun with another next key. Give that one, and it goes on.",
  );
  return { ...createKeyChange(oldKey, newKey), finish };
}

async function readPresent(check: KeyCheck, present: string, next: string): Promise<Buffer | null> {
  const isWrong = "The secret key is not the one that was used here before.";
  try {
    const key = await readKey(present, check, isWrong);
    if (key === null) throw new ConfigError("Nothing was sealed here yet: start with the next key at once.");
    return key;
  } catch (error) {
    if (error instanceof ConfigError && (await isPresent(check, next))) return null;
    throw error;
  }
}

async function isPresent(check: OnceWritten, secret: string): Promise<boolean> {
  try {
    return (await readKey(secret, check, "")) !== null;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}
