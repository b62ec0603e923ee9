import { editDistance } from "@convoke/protocol/validate";

/** True when `given` is a typo of `known`: one letter is wrong, missing or extra, or two are swapped. */
export function isTypoOf(given: string, known: string): boolean {
  // A name with a suffix, such as terminal2, is a name of its own.
  if (given.startsWith(known) || Math.min(given.length, known.length) < 4) return false;
  return editDistance(given, known, 1) === 1;
}
