import type { ToolSecret } from "../tool.ts";
import { secretForms, type SecretForm } from "./secret-forms.ts";
import { marks, SecretStarts } from "./secret-starts.ts";
import { openAutomaton, root, type TextAutomaton } from "./text-automaton.ts";

/** Maximum length of a path. */
const maxSpared = 4_096;

/** Automata for the forms of some secrets and the spared texts. Immutable, so many masks may share it. */
export class SecretPlaces {
  readonly forward: TextAutomaton;
  /** Length of the longest form. */
  readonly longest: number;
  /** Length of the longest spared text. */
  readonly longestSpared: number;
  readonly #forms: readonly SecretForm[];
  readonly #spared: readonly string[];
  /** By node: its longest suffix that more characters may complete to a form or a spared text. */
  readonly #open: Int32Array;
  /** By node: 1 where a form ends, also as a suffix. */
  readonly #hits: Uint8Array;
  #starts: SecretStarts | undefined;
  #shortest: ShortestForms | undefined;

  constructor(forms: readonly SecretForm[], mayBeSpared: readonly string[]) {
    this.#forms = forms;
    const plain = openForward(forms, []);
    const hits = hitsOf(plain);
    // A text that contains no form need not be spared, and would be held back for nothing.
    this.#spared = [...new Set(mayBeSpared)].filter(
      (text) => text.length <= maxSpared && holdsHit(plain, hits, text),
    );
    this.forward = this.#spared.length === 0 ? plain : openForward(forms, this.#spared);
    this.#hits = this.#spared.length === 0 ? hits : hitsOf(this.forward);
    this.#open = openEndings(this.forward);
    this.longestSpared = this.#spared.reduce((max, { length }) => Math.max(max, length), 0);
    this.longest = forms.reduce((max, { text }) => Math.max(max, text.length), 0);
  }

  /** True when a form ends at `node`; its bounds are not checked yet. */
  isHit(node: number): boolean {
    return this.#hits[node] === 1;
  }

  /** Number of characters at the end of a text that may still become a form or a spared text. */
  undecided(node: number): number {
    return this.forward.depths[this.#open[node]!]!;
  }

  /** Built when the first form is found, because most texts contain none. */
  get starts(): SecretStarts {
    this.#starts ??= new SecretStarts(this.#forms, this.#spared);
    return this.#starts;
  }

  /** Built when the first text is cut off. */
  get shortest(): ShortestForms {
    this.#shortest ??= shortestForms(this.forward);
    return this.#shortest;
  }
}

/** Recently used automata: every answer, call and progress text of a conversation masks the same secrets. */
const opened = new Map<string, SecretPlaces>();
const maxOpened = 16;

/** The forms of these secrets; undefined when there are none to search. */
export function openPlaces(
  given: readonly ToolSecret[],
  mayBeSpared: readonly string[],
): SecretPlaces | undefined {
  const secrets = given.filter(({ isPlaceholder }) => isPlaceholder !== true);
  if (secrets.length === 0) return undefined;
  const key = JSON.stringify([secrets.map(({ value }) => value), mayBeSpared]);
  let places = opened.get(key);
  if (places === undefined) {
    const forms = secretForms(secrets);
    if (forms.length === 0) return undefined;
    places = new SecretPlaces(forms, mayBeSpared);
  }
  opened.delete(key);
  opened.set(key, places);
  if (opened.size > maxOpened) opened.delete(opened.keys().next().value!);
  return places;
}

/** By node: the length of the shortest form of each kind with this prefix; {@link noForm} when there is none. */
export type ShortestForms = Readonly<Record<"none" | "token" | "word" | "spared", Int32Array>>;
export const noForm = 0x7fffffff;

function openForward(forms: readonly SecretForm[], spared: readonly string[]): TextAutomaton {
  return openAutomaton([
    ...forms.map(({ text, bounds }) => ({ text, mark: marks[bounds] })),
    ...forms
      .filter(({ bounds }) => bounds === "word")
      .map(({ text }) => ({ text: `${text}.`, mark: marks.dotted })),
    ...spared.map((text) => ({ text, mark: marks.spared })),
  ]);
}

function holdsHit(automaton: TextAutomaton, hits: Uint8Array, text: string): boolean {
  let node = root;
  for (let at = 0; at < text.length; at += 1) {
    node = automaton.next(node, text.charCodeAt(at));
    if (hits[node] === 1) return true;
  }
  return false;
}

function openEndings({ nodeCount, byDepth, links, parents, marks: marked }: TextAutomaton): Int32Array {
  const isInner = new Uint8Array(nodeCount);
  for (let node = 1; node < nodeCount; node += 1) isInner[parents[node]!] = 1;
  // A whole token at the very end is undecided too: the next characters may make it part of a word.
  const mayGoOn = marks.token | marks.word | marks.dotted;
  const open = new Int32Array(nodeCount);
  for (const node of byDepth) {
    const isOpen = isInner[node] === 1 || (marked[node]! & mayGoOn) !== 0;
    open[node] = isOpen ? node : open[links[node]!]!;
  }
  return open;
}

function hitsOf({ nodeCount, byDepth, links, marks: marked }: TextAutomaton): Uint8Array {
  const ofForms = marks.none | marks.token | marks.word;
  const hits = new Uint8Array(nodeCount);
  for (const node of byDepth) hits[node] = (marked[node]! & ofForms) === 0 ? hits[links[node]!]! : 1;
  return hits;
}

function shortestForms({ nodeCount, parents, marks: marked, depths }: TextAutomaton): ShortestForms {
  const shortest = (mark: number): Int32Array => {
    const lengths = new Int32Array(nodeCount).fill(noForm);
    for (let node = nodeCount - 1; node > root; node -= 1) {
      if ((marked[node]! & mark) !== 0) lengths[node] = depths[node]!;
      const parent = parents[node]!;
      lengths[parent] = Math.min(lengths[parent]!, lengths[node]!);
    }
    return lengths;
  };
  return {
    none: shortest(marks.none),
    token: shortest(marks.token),
    word: shortest(marks.word),
    spared: shortest(marks.spared),
  };
}
