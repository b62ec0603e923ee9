import { randomBytes } from "node:crypto";

const randomChars = 24;
/** 32 letters, so that each random byte chooses one of them without preference. */
const letters = "abcdefghijkmnpqrstuvwxyz23456789";
/** Tokens of the kind that programs look at have this many characters behind their beginning. */
const shapedChars = 36;

/**
 * What stands for the value of a bound secret inside of a wall: `cvk_<name>_<24 random characters>`, or the shape and 36 characters for
 * programs that look at tokens. It says nothing about the value.
 */
export function createPlaceholder(name: string, shape: string | null): string {
  if (shape !== null) return `${shape}cvk${random(shapedChars - 3)}`;
  return `cvk_${name.replaceAll(/\W/g, "_").slice(0, 64)}_${random(randomChars)}`;
}

function random(length: number): string {
  return Array.from(randomBytes(length), (byte) => letters[byte % letters.length]).join("");
}
