/** One part of a snippet. */
export type SnippetPart = { readonly text: string; readonly isMatch: boolean };

/** Maximum number of terms of a search; further ones are ignored. */
const termLimit = 8;

/** Case is ignored by comparing folded texts; the fold of a part is always a part of the fold. */
export function foldText(text: string): string {
  // The lower case of a capital sigma depends on the adjacent letters; one form keeps substrings comparable.
  return text.toLowerCase().replaceAll("ς", "σ");
}

/** The folded terms of what a person typed: words, and "phrases" with their spaces. None for nothing but spaces. */
export function readTerms(typed: string): string[] {
  const terms = Array.from(typed.matchAll(/"([^"]*)"?|[^\s"]+/g), ([whole, phrase]) =>
    foldText(phrase ?? whole),
  );
  return [...new Set(terms.filter((term) => term.trim() !== ""))].slice(0, termLimit);
}

/** The text with most of the terms, when each of them is in one of the texts; null when one is in none. */
export function findMatch(texts: readonly string[], terms: readonly string[]): string | null {
  const folded = texts.map(foldText);
  if (!terms.every((term) => folded.some((text) => text.includes(term)))) return null;
  const counts = folded.map((text) => terms.filter((term) => text.includes(term)).length);
  return texts[counts.indexOf(Math.max(...counts))] ?? null;
}

/** What stands around the first match, on one line and without the colours of a terminal, with every match in it marked. */
export function toSnippet(stored: string, terms: readonly string[]): SnippetPart[] {
  const plain = stored.replaceAll(terminalSequence, "");
  const foldedPlain = foldText(plain);
  // A search may be for a part of a sequence.
  const text = terms.some((term) => foldedPlain.includes(term)) ? plain : stored;
  const [folded, places] = foldWithPlaces(text);
  const first = Math.min(...terms.map((term) => folded.indexOf(term)).filter((at) => at >= 0));
  const around = Number.isFinite(first) ? first : 0;
  const from = startNear(folded, around);
  const to = Math.min(folded.length, from + snippetCharacters);
  const parts: SnippetPart[] = [];
  const add = (start: number, end: number, isMatch: boolean): void => {
    const part = text.slice(places(start), places(end)).replaceAll(/\s+/g, " ");
    if (part !== "") parts.push({ text: part, isMatch });
  };
  if (from > 0) parts.push({ text: "…", isMatch: false });
  let done = from;
  while (done < to) {
    const next = nextMatch(folded, terms, done);
    if (next === null || next.start >= to) break;
    add(done, next.start, false);
    add(next.start, next.end, true);
    done = next.end;
  }
  if (done < to) add(done, to, false);
  if (Math.max(done, to) < folded.length) parts.push({ text: "…", isMatch: false });
  return parts;
}

// eslint-disable-next-line no-control-regex -- the sequences of a terminal begin with one
const terminalSequence = /\u001B\[[0-9;?]*[A-Za-z]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B./g;

const snippetCharacters = 240;
const charactersBefore = 60;

/** Not in the middle of a word where it can be helped. */
function startNear(folded: string, at: number): number {
  if (at <= charactersBefore) return 0;
  const space = folded.slice(at - charactersBefore, at).search(/\s/);
  return at - charactersBefore + (space < 0 ? 0 : space + 1);
}

function nextMatch(
  folded: string,
  terms: readonly string[],
  from: number,
): { start: number; end: number } | null {
  let best: { start: number; end: number } | null = null;
  for (const term of terms) {
    const start = folded.indexOf(term, from);
    if (start < 0) continue;
    const isBetter =
      best === null || start < best.start || (start === best.start && start + term.length > best.end);
    if (isBetter) best = { start, end: start + term.length };
  }
  return best;
}

/** The fold, and where a place of it is in the text: a few letters get longer by folding. */
function foldWithPlaces(text: string): [folded: string, places: (at: number) => number] {
  const whole = foldText(text);
  if (whole.length === text.length) return [whole, (at) => at];
  const starts: number[] = [];
  let at = 0;
  for (const letter of text) {
    for (let unit = 0; unit < foldText(letter).length; unit += 1) starts.push(at);
    at += letter.length;
  }
  return [whole, (place) => starts[place] ?? text.length];
}
