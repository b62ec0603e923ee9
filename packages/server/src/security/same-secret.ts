import { createHash, timingSafeEqual } from "node:crypto";

/** Takes the same time for every wrong one. */
export function isSameSecret(given: string, known: string): boolean {
  return timingSafeEqual(digest(given), digest(known));
}

function digest(secret: string): Buffer {
  return createHash("sha256").update(secret, "utf8").digest();
}
