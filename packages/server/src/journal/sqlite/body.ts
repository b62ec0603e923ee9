/*
 * Substring search in message texts. Texts of one stream (one conversation, one class) are grouped into blocks of
 * consecutive messages; a block's distinct grams are one document of a full-text table. A search intersects the needle's grams,
 * which gives candidate blocks in log order, and checks the folded texts, which a block keeps together. Blocks keep the posting lists many times shorter
 * than one document a message would. Messages after the last block are scanned.
 */

import { maxGramsPerQuery, maxPhrasesPerQuery } from "../text-blocks.ts";
import { addGrams, addPhrases, sample } from "../text-grams.ts";

/** The distinct grams of a block as index words, together with the stream's own word. */
export function toBlockWords(stream: number, messages: readonly BlockMessage[]): string {
  const grams = new Set<number>();
  for (const [, text] of messages) {
    for (const size of [1, 2, 3]) addGrams(grams, text, size);
    addPhrases(grams, text, 0);
  }
  return [toStreamWord(stream), ...toWords(grams)].join(" ");
}

/** A message of a block: its `seq` and its folded text. */
export type BlockMessage = readonly [seq: number, foldedText: string];

/** The `seq` of each message of a stored block whose text has the needle. Throws SyntaxError for what is no block. */
export function findInBlock(messages: string, foldedNeedle: string): number[] {
  if (!messages.startsWith("[") || !messages.endsWith("]]")) throw new SyntaxError("A block is cut off");
  // Escapes do not depend on what is around them, except those of half characters.
  const canSkip =
    foldedNeedle.isWellFormed() && !messages.includes(JSON.stringify(foldedNeedle).slice(1, -1));
  if (canSkip) return [];
  const parsed = JSON.parse(messages) as BlockMessage[];
  return parsed.filter(([, text]) => text.includes(foldedNeedle)).map(([seq]) => seq);
}

/** A full-text expression that every block containing `foldedNeedle` matches (hash collisions may add others). */
export function toBlockQuery(stream: number, foldedNeedle: string): string {
  const phrases = new Set<number>();
  // Whether a word begins with the needle depends on the text before it.
  addPhrases(phrases, foldedNeedle, 1);
  const grams = new Set<number>();
  addGrams(grams, foldedNeedle, Math.min(3, foldedNeedle.length));
  const words = [
    toStreamWord(stream),
    ...sample(toWords(phrases), maxPhrasesPerQuery),
    ...sample(toWords(grams), maxGramsPerQuery),
  ];
  return words.map((word) => `"${word}"`).join(" AND ");
}

/** As words of a full-text table: five or six letters and digits. */
export function toWords(grams: Iterable<number>): string[] {
  return Array.from(grams, (gram) => gram.toString(36));
}

/** Longer than any gram's word, so the two never meet. */
function toStreamWord(stream: number): string {
  return `stream${stream.toString(36)}`;
}
