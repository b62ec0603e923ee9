/*
 * Substring search in message texts. Texts of one stream (one conversation, one class) are grouped into blocks of
 * consecutive messages; a block's distinct 1-, 2- and 3-grams are one document of a full-text table. A search intersects
 * the needle's grams, which gives candidate blocks in log order, and checks the texts themselves. Blocks keep the posting
 * lists 30 times shorter than one document a message would. Messages after the last block are
 * scanned.
 */

/** Case is ignored by comparing folded texts; the fold of a part is always a part of the fold. */
export function foldText(text: string): string {
  // The lower case of a capital sigma depends on its neighbours; one form keeps substrings comparable.
  return text.toLowerCase().replaceAll("ς", "σ");
}

/** A block is made of this many messages, of fewer when they have this many characters. */
export const blockMessageLimit = 32;
export const blockCharacterLimit = 24_000;

const hashBits = 20;
const maxGramsPerQuery = 24;

/** The distinct grams of folded texts as index words, together with the stream's own word. */
export function toBlockWords(stream: number, foldedTexts: readonly string[]): string {
  const seen = new Set<number>();
  for (const text of foldedTexts) {
    for (let index = 0; index < text.length; index += 1) {
      seen.add(gramAt(text, index, 1));
      if (index + 1 < text.length) seen.add(gramAt(text, index, 2));
      if (index + 2 < text.length) seen.add(gramAt(text, index, 3));
    }
  }
  const words = [streamWord(stream)];
  for (const gram of seen) words.push(gram.toString(36));
  return words.join(" ");
}

/** A full-text expression that every block containing `foldedNeedle` matches (hash collisions may add others). */
export function toBlockQuery(stream: number, foldedNeedle: string): string {
  const size = Math.min(3, foldedNeedle.length);
  const grams = new Set<number>();
  for (let index = 0; index < foldedNeedle.length - size + 1 && grams.size < maxGramsPerQuery; index += 1) {
    if (size > 0) grams.add(gramAt(foldedNeedle, index, size));
  }
  return [streamWord(stream), ...[...grams].map((gram) => gram.toString(36))]
    .map((word) => `"${word}"`)
    .join(" AND ");
}

/** Longer than any gram's word, so the two never meet. */
function streamWord(stream: number): string {
  return `stream${stream.toString(36)}`;
}

function gramAt(text: string, index: number, size: number): number {
  let hash = text.charCodeAt(index);
  for (let offset = 1; offset < size; offset += 1) {
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c_1b_3c_6d) + text.charCodeAt(index + offset);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x45_d9_f3_b5);
  return ((size << hashBits) | ((hash ^ (hash >>> 15)) >>> (32 - hashBits))) >>> 0;
}

/**
 * Where the text of an event is: null without text, a number for the span of the JSON that holds it as a string literal
 * (so that it is not stored twice), or the literal itself.
 */
export type TextPlace = number | string | null;

const spanUnit = 2 ** 26;

export function placeText(text: string | null, json: string): TextPlace {
  if (text === null) return null;
  const literal = JSON.stringify(text);
  const start = json.indexOf(literal);
  if (start === -1 || start >= spanUnit || literal.length >= spanUnit) return literal;
  return start * spanUnit + literal.length;
}

export function readText(place: TextPlace, json: string): string | null {
  if (place === null) return null;
  if (typeof place === "string") return parseLiteral(place);
  const start = Math.floor(place / spanUnit);
  return parseLiteral(json.slice(start, start + (place % spanUnit)));
}

function parseLiteral(literal: string): string {
  return literal.includes("\\") ? String(JSON.parse(literal)) : literal.slice(1, -1);
}
