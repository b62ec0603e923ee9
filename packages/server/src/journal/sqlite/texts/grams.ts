import { addGrams } from "../../text-grams.ts";
import { toWords } from "../body.ts";

/*
 * Parts of two and of three characters only. Longer ones would make phrases of frequent words rare, and the index four times as
 * large: what is taken for a match by its grams is compared with its text, and a page ends when that takes long.
 */

/** The distinct grams of folded texts as index words. */
export function toGramWords(foldedTexts: Iterable<string>): string[] {
  const grams = new Set<number>();
  for (const text of foldedTexts) for (const size of [2, 3]) addGrams(grams, text, size);
  return toWords(grams);
}

/** Index words that every text with these terms in it has. */
export function toNeedleWords(foldedTerms: readonly string[]): string[] {
  const parts = new Set(foldedTerms.flatMap(partsOf));
  // A digit, a sign or a letter beyond a to z makes a part rare.
  const byRarity = [...parts].toSorted((left, right) => signsIn(right) - signsIn(left));
  const grams = new Set<number>();
  for (const part of byRarity.slice(0, maxParts)) addGrams(grams, part, part.length);
  return toWords(grams);
}

/** Each one costs a search as much as all others do. */
const maxParts = 12;

function partsOf(term: string): string[] {
  const size = Math.min(3, term.length);
  if (size < 2) return [];
  return Array.from({ length: term.length - size + 1 }, (_, index) => term.slice(index, index + size));
}

function signsIn(part: string): number {
  return part.replaceAll(/[a-z ]/g, "").length;
}
