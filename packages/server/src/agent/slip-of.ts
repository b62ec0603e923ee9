import { editDistance } from "@convoke/protocol/validate";

/** Whether somebody who typed `given` seems to have meant `known`: one letter is wrong, missing, too many, or two are swapped. */
export function isSlipOf(given: string, known: string): boolean {
  // A name that only goes on, such as terminal2, is a name of its own.
  if (given.startsWith(known) || Math.min(given.length, known.length) < 4) return false;
  return editDistance(given, known, 1) === 1;
}
