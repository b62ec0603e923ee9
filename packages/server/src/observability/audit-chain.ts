import { hash } from "node:crypto";

/** The number of a line in its stream, and the digest that the line ends with: SHA-256 in hex. */
export type Link = { readonly n: number; readonly h: string };

/** What the first line of a stream follows. */
export const beforeFirst: Link = { n: 0, h: "0".repeat(64) };

/** A line as it is read: `body` is the line without its digest. */
export type ChainedLine = Link & { readonly body: string };

/** Makes the line, with its end, that follows `previous`. `open` is its JSON object without the closing brace. */
export function chainLine(previous: Link, open: string): { readonly line: string; readonly link: Link } {
  const n = previous.n + 1;
  const numbered = `${open},"n":${n}`;
  const h = digestOf(previous.h, `${numbered}}`);
  return { line: `${numbered},"h":"${h}"}\n`, link: { n, h } };
}

/** The digest covers the line before and everything in this line but itself. */
export function digestOf(previousDigest: string, body: string): string {
  return hash("sha256", previousDigest + body, "hex");
}

/** Null for a line that is of no chain. `line` has no end. */
export function parseChained(line: string): ChainedLine | null {
  const [suffix, n, h] =
    /,"n":([1-9]\d{0,14}),"h":"([0-9a-f]{64})"\}$/.exec(line.slice(-longestSuffix)) ?? [];
  if (suffix === undefined || n === undefined || h === undefined) return null;
  return { n: Number(n), h, body: `${line.slice(0, -suffix.length)},"n":${n}}` };
}

const longestSuffix = 100;

/** A line that the log itself writes about its stream. */
export type ChainNote =
  | { readonly chain: "lines lost"; readonly lost: number }
  | { readonly chain: "cut off by a crash"; readonly rest: string }
  | { readonly chain: "break"; readonly problem: string };

/** Null for all other lines. */
export function parseNote(body: string): ChainNote | null {
  if (!/^\{"at":"[^"]*","chain":/.test(body)) return null;
  return JSON.parse(body) as ChainNote;
}
