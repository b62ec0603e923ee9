import { randomBytes } from "node:crypto";

const keyBytes = 24;

/** A new key of a user: 192 random bits, in a form that is recognised. */
export function createIssuedKey(): string {
  return `convoke_${randomBytes(keyBytes).toString("base64url")}`;
}

/** True for what has the form of an issued key, whether it was issued or not. */
export function isIssuedForm(text: string): boolean {
  return /^convoke_[\w-]{32}$/.test(text);
}
