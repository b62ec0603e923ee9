import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** A nonce, so that a recorded greeting cannot be replayed. */
export function createNonce(): string {
  return randomBytes(32).toString("base64url");
}

export type Greeting = { readonly clientNonce: string; readonly serverNonce: string };

/** Proves that `role` has the key without revealing it: an impostor at the address learns nothing from a caller. */
export function proveKey(key: string, role: "client" | "host", greeting: Greeting): string {
  const { clientNonce, serverNonce } = greeting;
  return createHmac("sha256", key)
    .update(JSON.stringify([role, clientNonce, serverNonce]))
    .digest("base64url");
}

/** Compares proofs in constant time. */
export function isSameProof(expected: string, given: unknown): boolean {
  if (typeof given !== "string") return false;
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}
