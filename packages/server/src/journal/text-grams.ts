import { foldText } from "./text-terms.ts";

/*
 * The grams of texts, by which both stores search: hashes of every 2 and 3 characters, so that short needles and scripts without spaces work.
 * Longer ones would make phrases of frequent words rare, and the index four times as large: what is taken for a match by its grams is compared
 * with its text, and a page of the search of everything ends when that takes long. A page of the body filter does not end before it is full,
 * so the texts of messages have hashes of each character too, and of 8 characters from each beginning of a word.
 */

/** What a block knows of an event: its texts, and the whole text of a message, which is null for others. */
export type TextsOfEvent = { readonly texts: readonly string[]; readonly body: string | null };

/** The distinct grams of a block. */
export function gramsOfBlock(events: Iterable<TextsOfEvent>): Set<number> {
  const grams = new Set<number>();
  for (const { texts, body } of events) {
    for (const text of texts.map(foldText)) for (const size of [2, 3]) addGrams(grams, text, size);
    if (body === null) continue;
    const folded = foldText(body);
    for (const size of [1, 2, 3]) addGrams(grams, folded, size);
    addPhrases(grams, folded, 0);
  }
  return grams;
}

/** Grams of every block that has all these folded terms in one event. */
export function gramsOfTerms(foldedTerms: readonly string[]): Set<number> {
  const parts = new Set(foldedTerms.flatMap(partsOf));
  // A digit, a sign or a letter beyond a to z makes a part rare.
  const byRarity = [...parts].toSorted((left, right) => signsIn(right) - signsIn(left));
  const grams = new Set<number>();
  for (const part of byRarity.slice(0, maxParts)) addGrams(grams, part, part.length);
  return grams;
}

/** Grams of every block with a message that has the folded text in it. */
export function gramsOfBody(foldedNeedle: string): number[] {
  const phrases = new Set<number>();
  // Whether a word begins with the needle depends on the text before it.
  addPhrases(phrases, foldedNeedle, 1);
  const grams = new Set<number>();
  addGrams(grams, foldedNeedle, Math.min(3, foldedNeedle.length));
  return [...sample([...phrases], maxPhrases), ...sample([...grams], maxGrams)];
}

/** Each one costs a search as much as all others do. */
const maxParts = 12;
/** For the body filter a few are enough to make a block unlikely. */
const maxPhrases = 4;
const maxGrams = 5;

function partsOf(term: string): string[] {
  const size = Math.min(3, term.length);
  if (size < 2) return [];
  return Array.from({ length: term.length - size + 1 }, (_, index) => term.slice(index, index + size));
}

function signsIn(part: string): number {
  return part.replaceAll(/[a-z ]/g, "").length;
}

const hashBits = 24;
const phraseSize = 8;

/** Adds the hashes of all parts of this length. */
function addGrams(grams: Set<number>, text: string, size: number): void {
  if (size === 0) return;
  for (let index = 0; index + size <= text.length; index += 1) grams.add(gramAt(text, index, size));
}

/** Adds the hashes of what stands at the beginnings of words, from a place on. */
function addPhrases(grams: Set<number>, text: string, from: number): void {
  for (let index = from; index + phraseSize <= text.length; index += 1) {
    const startsWord = isWordUnit(text.charCodeAt(index)) && !isWordUnit(text.charCodeAt(index - 1));
    if (startsWord) grams.add(gramAt(text, index, phraseSize));
  }
}

/** Letters and digits of any script, roughly; what matters is that texts and needles are cut alike. */
function isWordUnit(unit: number): boolean {
  return unit >= 0x80 || (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
}

function gramAt(text: string, index: number, size: number): number {
  let hash = text.charCodeAt(index);
  for (let offset = 1; offset < size; offset += 1) {
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c_1b_3c_6d) + text.charCodeAt(index + offset);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x45_d9_f3_b5);
  const bits = (hash ^ (hash >>> 15)) >>> (32 - hashBits);
  // One range of numbers for each size.
  return Math.min(size, 4) * 2 ** hashBits + bits;
}

/** Evenly spread. */
function sample<Item>(items: readonly Item[], limit: number): Item[] {
  const step = Math.max(1, items.length / limit);
  return Array.from(
    { length: Math.min(items.length, limit) },
    (_, index) => items[Math.floor(index * step)]!,
  );
}
