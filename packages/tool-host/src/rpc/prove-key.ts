import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** A number that is used once, so that a recorded greeting opens nothing. */
export function createNonce(): string {
  return randomBytes(32).toString("base64url");
}

export type Greeting = { readonly clientNonce: string; readonly serverNonce: string };

/** Shows that `role` has the key, without showing the key: whoever took over an address learns nothing from a caller. */
export function proveKey(key: string, role: "client" | "host", greeting: Greeting): string {
  const { clientNonce, serverNonce } = greeting;
  return createHmac("sha256", key)
    .update(JSON.stringify([role, clientNonce, serverNonce]))
    .digest("base64url");
}

/** Compares in a time that does not depend on where the proofs differ. */
export function isSameProof(expected: string, given: unknown): boolean {
  if (typeof given !== "string") return false;
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}
