import { deflateRawSync, inflateRawSync } from "node:zlib";
import { findMatch, foldText } from "../../text-terms.ts";

/** What the index keeps of an event. */
export type Entry = {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly source: string;
  readonly toolName: string | null;
  readonly texts: readonly string[];
};

/** A block is full with so many events, or with so many characters. */
export const blockEntryLimit = 32;
export const blockCharacterLimit = 16_000;

type Row = [
  seq: number,
  at: number,
  kind: string,
  source: string,
  toolName: string | null,
  texts: readonly string[],
];

/** A line for each entry: only those that can match are parsed. */
export function packBlock(entries: readonly Entry[]): Uint8Array {
  const lines = entries.map(({ seq, at, kind, source, toolName, texts }) =>
    JSON.stringify([seq, at, kind, source, toolName, texts] satisfies Row),
  );
  return deflateRawSync(lines.join("\n"), { level: 1 });
}

/** Throws for what is no block. */
export function unpackBlock(packed: Uint8Array): Entry[] {
  return readText(packed).split("\n").map(readEntry);
}

export type Found = Entry & { readonly text: string };

/** The entries with every term, in the order of the log. Throws for what is no block. */
export function findInPacked(packed: Uint8Array, terms: readonly string[]): Found[] {
  // Escapes do not depend on what is around them, except those of half characters.
  const wanted = terms
    .filter((term) => term.isWellFormed())
    .map((term) => foldText(JSON.stringify(term).slice(1, -1)));
  const text = readText(packed);
  const folded = foldText(text);
  if (!wanted.every((term) => folded.includes(term))) return [];
  // Folding leaves the ends of lines alone.
  const foldedLines = folded.split("\n");
  return text.split("\n").flatMap((line, index) => {
    if (!wanted.every((term) => foldedLines[index]?.includes(term))) return [];
    const entry = readEntry(line);
    const found = findMatch(entry.texts, terms);
    return found === null ? [] : [{ ...entry, text: found }];
  });
}

function readText(packed: Uint8Array): string {
  return inflateRawSync(packed).toString();
}

function readEntry(line: string): Entry {
  const [seq, at, kind, source, toolName, texts] = JSON.parse(line) as Row;
  return { seq, at, kind, source, toolName, texts };
}

export function sizeOf(entries: readonly Entry[]): number {
  return entries.reduce((total, { texts }) => total + texts.reduce((sum, text) => sum + text.length, 0), 0);
}
