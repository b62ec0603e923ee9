import { ConfigError } from "../lib/config-error.ts";
import { openCheck, readKey, type KeyCheck, type OnceWritten } from "./master-key.ts";
import { createReseal, type KeyRotation } from "./seal.ts";

/** A secret that is configured, and the one that takes its place. */
export type SecretChange = { readonly present: string; readonly next: string };

export type SecretRotationDeps = SecretChange & {
  readonly check: KeyCheck;
  /** Puts the next check in the place of the present one, in one step. */
  readonly finish: () => Promise<void>;
};

/**
 * Begins or resumes the change of a secret that is configured: from here until its end no server starts. Null when it was ended
 * before. Rejects with {@link ConfigError} when the secrets are not the right ones.
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
  return { reseal: createReseal(oldKey, newKey), finish };
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
