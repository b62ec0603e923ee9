import { deflateRawSync, inflateRawSync } from "node:zlib";
import { findMatch, foldText } from "../../text-terms.ts";
import type { SearchText } from "../../search-text.ts";

/** What the index keeps of an event. */
export type Entry = SearchText & {
  readonly seq: number;
  readonly at: number;
  /** The whole text of a message, for the body filter; null for other events. */
  readonly body: string | null;
};

type Row = [
  seq: number,
  at: number,
  kind: string,
  source: string,
  toolName: string | null,
  texts: readonly string[],
  /** True where it is the only text. */
  body?: string | true,
];

/** As it is stored: plain where messages are, of which a page may need one each of a hundred blocks, and packed for the rest. */
export type StoredBlock = string | Uint8Array;

/** What is stored of a block is none. */
export class DamagedBlock extends Error {
  override readonly name = "DamagedBlock";
}

/** A line for each entry: only those that can match are parsed. */
export function packBlock(entries: readonly Entry[]): StoredBlock {
  const lines = entries.map(({ seq, at, kind, source, toolName, texts, body }) => {
    const row: Row = [seq, at, kind, source, toolName, texts];
    if (body !== null) row.push(texts.length === 1 && texts[0] === body ? true : body);
    return JSON.stringify(row);
  });
  const text = lines.join("\n");
  return entries.some(({ body }) => body !== null) ? text : deflateRawSync(text, { level: 1 });
}

/** Throws a {@link DamagedBlock} for what is none. */
export function unpackBlock(stored: StoredBlock): Entry[] {
  return readText(stored).split("\n").map(readEntry);
}

export type Found = Entry & { readonly text: string };

/** The entries with every term, in the order of the log. Throws as {@link unpackBlock} does. */
export function findTexts(stored: StoredBlock, terms: readonly string[]): Found[] {
  return findLines(stored, terms).flatMap((line) => {
    const entry = readEntry(line);
    const found = findMatch(entry.texts, terms);
    return found === null ? [] : [{ ...entry, text: found }];
  });
}

/** The `seq` of the messages with a folded text in them, in the order of the log. Throws as {@link unpackBlock} does. */
export function findBodies(stored: StoredBlock, needle: string): number[] {
  return findLines(stored, [needle])
    .map(readEntry)
    .filter(({ body }) => body !== null && foldText(body).includes(needle))
    .map(({ seq }) => seq);
}

function findLines(stored: StoredBlock, terms: readonly string[]): string[] {
  // Escapes do not depend on what is around them, except those of half characters.
  const wanted = terms
    .filter((term) => term.isWellFormed())
    .map((term) => foldText(JSON.stringify(term).slice(1, -1)));
  const text = readText(stored);
  const folded = foldText(text);
  if (!wanted.every((term) => folded.includes(term))) return [];
  // Folding leaves the ends of lines alone.
  const foldedLines = folded.split("\n");
  return text.split("\n").filter((_, index) => wanted.every((term) => foldedLines[index]?.includes(term)));
}

function readText(stored: StoredBlock): string {
  const text = typeof stored === "string" ? stored : orDamaged(() => inflateRawSync(stored).toString());
  if (!text.startsWith("[") || !text.endsWith("]")) throw new DamagedBlock("A block is cut off");
  return text;
}

function readEntry(line: string): Entry {
  return orDamaged(() => {
    const [seq, at, kind, source, toolName, texts, body = null] = JSON.parse(line) as Row;
    return { seq, at, kind, source, toolName, texts, body: body === true ? texts[0]! : body };
  });
}

function orDamaged<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw new DamagedBlock("A block of the index of texts is damaged", { cause });
  }
}
