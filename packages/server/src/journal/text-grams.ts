/*
 * The grams of texts: hashes of every 1, 2 and 3 characters, so that short needles and scripts without spaces work, and of 8
 * characters from each beginning of a word, which make phrases of frequent words rare. Both stores search by them.
 */

const hashBits = 24;
const phraseSize = 8;

/** Adds the hashes of all parts of this length. */
export function addGrams(grams: Set<number>, text: string, size: number): void {
  if (size === 0) return;
  for (let index = 0; index + size <= text.length; index += 1) grams.add(gramAt(text, index, size));
}

/** Adds the hashes of what stands at the beginnings of words, from a place on. */
export function addPhrases(grams: Set<number>, text: string, from: number): void {
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
export function sample<Item>(items: readonly Item[], limit: number): Item[] {
  const step = Math.max(1, items.length / limit);
  return Array.from(
    { length: Math.min(items.length, limit) },
    (_, index) => items[Math.floor(index * step)]!,
  );
}
