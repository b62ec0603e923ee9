import type { Bounds, SecretForm } from "./secret-forms.ts";
import { openAutomaton, root, type TextAutomaton } from "./text-automaton.ts";

/** By position from the start: length of the longest form that begins there, and of the longest spared text. */
export type Starts = { readonly forms: Int32Array; readonly spared: Int32Array };

/** What ends at a node: a form by its bounds, a spared text, or a `word` form with the dot that may make it a name. */
export const marks = { none: 1, token: 2, word: 4, spared: 8, dotted: 16 } as const;
const bounded = marks.token | marks.word;

/**
 * Finds forms by where they begin: reads the text backwards from its end with reversed forms, so that the end of a reversed match is
 * the beginning of the form.
 */
export class SecretStarts {
  readonly #automaton: TextAutomaton;
  /** By node: length of its longest suffix that counts anywhere, and of the longest spared one. */
  readonly #anywhere: Int32Array;
  readonly #spared: Int32Array;
  /** By node: its longest suffix that counts only without adjacent letters. */
  readonly #bounded: Int32Array;

  constructor(forms: readonly SecretForm[], spared: readonly string[]) {
    this.#automaton = openAutomaton([
      ...forms.map(({ text, bounds }) => ({ text: backwards(text), mark: marks[bounds] })),
      ...spared.map((text) => ({ text: backwards(text), mark: marks.spared })),
    ]);
    const { nodeCount, byDepth, links, marks: marked, depths } = this.#automaton;
    this.#anywhere = new Int32Array(nodeCount);
    this.#spared = new Int32Array(nodeCount);
    this.#bounded = new Int32Array(nodeCount);
    for (const node of byDepth) {
      const link = links[node]!;
      const has = marked[node]!;
      this.#anywhere[node] = (has & marks.none) === 0 ? this.#anywhere[link]! : depths[node]!;
      this.#spared[node] = (has & marks.spared) === 0 ? this.#spared[link]! : depths[node]!;
      this.#bounded[node] = (has & bounded) === 0 ? this.#bounded[link]! : node;
    }
  }

  /** What begins in `subject` at `from` or later and ends before `to`. */
  find(subject: string, from: number, to: number): Starts {
    const forms = new Int32Array(to - from);
    const spared = new Int32Array(to - from);
    let node: number = root;
    for (let at = to - 1; at >= from; at -= 1) {
      node = this.#automaton.next(node, subject.charCodeAt(at));
      forms[at - from] = Math.max(this.#anywhere[node]!, this.#longestBounded(subject, at, node));
      spared[at - from] = this.#spared[node]!;
    }
    return { forms, spared };
  }

  #longestBounded(subject: string, start: number, node: number): number {
    const { links, marks: marked, depths } = this.#automaton;
    let at = this.#bounded[node]!;
    if (at === root) return 0;
    const before = subject.slice(Math.max(0, start - contextLength), start);
    const mayBegin = { token: !isPartBefore(before, "token"), word: !isPartBefore(before, "word") };
    for (; at !== root; at = this.#bounded[links[at]!]!) {
      const bounds = (marked[at]! & marks.token) === 0 ? "word" : "token";
      if (!mayBegin.token) return 0;
      if (mayBegin[bounds] && !isPartBehind(subject, start + depths[at]!, bounds)) return depths[at]!;
    }
    return 0;
  }
}

/** Length of the longest escape, `\u001b`; letters beyond the first plane have two code units. */
export const contextLength = 6;

/** True when the text after `before` continues a longer word; with `word` also when it continues a path or a compound name. */
export function isPartBefore(before: string, bounds: Bounds): boolean {
  if (bounds === "none") return false;
  const touches = bounds === "token" ? /[\p{L}\p{N}]$/u : /[\p{L}\p{N}/_.-]$/u;
  // The letter of a JSON escape is not a letter.
  return touches.test(before) && !/\\(?:[nrtbf]|u[\da-f]{4})$/i.test(before);
}

function isPartBehind(subject: string, end: number, bounds: "token" | "word"): boolean {
  const after = subject.slice(end, end + 3);
  return (bounds === "token" ? /^[\p{L}\p{N}]/u : /^(?:[\p{L}\p{N}/_-]|\.[\p{L}\p{N}])/u).test(after);
}

function backwards(text: string): string {
  const codes = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at += 1) codes[text.length - 1 - at] = text.charCodeAt(at);
  return Buffer.from(codes.buffer).toString("utf16le");
}
