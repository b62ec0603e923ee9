/*
 * Substring search in message texts. Texts of one stream (one conversation, one class) are grouped into blocks of
 * consecutive messages; a block's distinct grams are one document of a full-text table. A search intersects the needle's grams,
 * which gives candidate blocks in log order, and checks the folded texts, which a block keeps together. Blocks keep the posting lists many times shorter
 * than one document a message would. Messages after the last block are scanned.
 *
 * Grams are hashed: every 1, 2 and 3 characters, so that short needles and scripts without spaces work, and 8 characters from
 * each beginning of a word, which make phrases of frequent words rare.
 */

/** Case is ignored by comparing folded texts; the fold of a part is always a part of the fold. */
export function foldText(text: string): string {
  // The lower case of a capital sigma depends on its neighbours; one form keeps substrings comparable.
  return text.toLowerCase().replaceAll("ς", "σ");
}

/** A block is made of this many messages, of fewer when they have this many characters. */
export const blockMessageLimit = 16;
export const blockCharacterLimit = 16_000;

const hashBits = 24;
const phraseSize = 8;
/** Each one costs a search as much as all others do; a few are enough to make a block unlikely. */
const maxPhrasesPerQuery = 4;
const maxGramsPerQuery = 5;

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

function addGrams(grams: Set<number>, text: string, size: number): void {
  if (size === 0) return;
  for (let index = 0; index + size <= text.length; index += 1) grams.add(gramAt(text, index, size));
}

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

function toWords(grams: Iterable<number>): string[] {
  return Array.from(grams, (gram) => gram.toString(36));
}

/** Longer than any gram's word, so the two never meet. */
function toStreamWord(stream: number): string {
  return `stream${stream.toString(36)}`;
}

/** Evenly spread. */
function sample(words: readonly string[], limit: number): string[] {
  const step = Math.max(1, words.length / limit);
  return Array.from(
    { length: Math.min(words.length, limit) },
    (_, index) => words[Math.floor(index * step)] ?? "",
  );
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
