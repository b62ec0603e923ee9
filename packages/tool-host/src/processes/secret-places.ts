import type { ToolSecret } from "../tool.ts";
import { secretForms, type SecretForm } from "./secret-forms.ts";
import { marks, SecretStarts } from "./secret-starts.ts";
import { openAutomaton, root, type TextAutomaton } from "./text-automaton.ts";

/** As long as a path may be. */
const maxSpared = 4_096;

/** The forms of some secrets and the texts that are spared, ready to be found. It does not change, so many masks may share it. */
export class SecretPlaces {
  readonly forward: TextAutomaton;
  /** Characters of the longest form. */
  readonly longest: number;
  /** The same of the texts that are spared. */
  readonly longestSpared: number;
  readonly #forms: readonly SecretForm[];
  readonly #spared: readonly string[];
  /** By node: the longest of its endings that more characters may make a form or a spared text of. */
  readonly #open: Int32Array;
  /** By node: 1 where a form ends, or an ending of it is one. */
  readonly #hits: Uint8Array;
  #starts: SecretStarts | undefined;
  #shortest: ShortestForms | undefined;

  constructor(forms: readonly SecretForm[], mayBeSpared: readonly string[]) {
    this.#forms = forms;
    const plain = openForward(forms, []);
    const hits = hitsOf(plain);
    // A text that holds no form needs not be spared, and would be held back for nothing.
    this.#spared = [...new Set(mayBeSpared)].filter(
      (text) => text.length <= maxSpared && holdsHit(plain, hits, text),
    );
    this.forward = this.#spared.length === 0 ? plain : openForward(forms, this.#spared);
    this.#hits = this.#spared.length === 0 ? hits : hitsOf(this.forward);
    this.#open = openEndings(this.forward);
    this.longestSpared = this.#spared.reduce((max, { length }) => Math.max(max, length), 0);
    this.longest = forms.reduce((max, { text }) => Math.max(max, text.length), 0);
  }

  /** True when a form ends where `node` was reached; its bounds are not judged yet. */
  isHit(node: number): boolean {
    return this.#hits[node] === 1;
  }

  /** Characters at the end of a text that more text could turn into a form, or into something spared. */
  undecided(node: number): number {
    return this.forward.depths[this.#open[node]!]!;
  }

  /** Made when the first form was found, because most texts have none. */
  get starts(): SecretStarts {
    this.#starts ??= new SecretStarts(this.#forms, this.#spared);
    return this.#starts;
  }

  /** Made when the first text is cut off. */
  get shortest(): ShortestForms {
    this.#shortest ??= shortestForms(this.forward);
    return this.#shortest;
  }
}

/** What was opened last, because the same secrets are masked for every answer, call and piece of progress of a conversation. */
const opened = new Map<string, SecretPlaces>();
const maxOpened = 16;

/** The forms of these secrets; undefined where there are none to be found. */
export function openPlaces(
  secrets: readonly ToolSecret[],
  mayBeSpared: readonly string[],
): SecretPlaces | undefined {
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

/** By node: how long the shortest form of each kind is that begins so; {@link noForm} where none does. */
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
