import { randomInt } from "node:crypto";

/** The node of the empty text. */
export const root = 0;

/**
 * An Aho-Corasick automaton: finds all its texts in another one, in time that depends only on the lengths. A node stands for a prefix
 * of some texts; the reached node is the longest prefix that the read text ends with.
 */
export class TextAutomaton {
  /** By node: its number of characters, and the bits of {@link TextAutomaton.mark}. */
  readonly depths: Int32Array;
  readonly marks: Uint8Array;
  /** By node: its longest proper suffix that is a node. Node numbers grow from prefixes to whole texts. */
  readonly links: Int32Array;
  readonly parents: Int32Array;
  readonly #codes: Uint16Array;
  /** Nodes by parent and character: open addressing, 0 is free. */
  readonly #slots: Int32Array;
  readonly #shift: number;
  // Random, so that nobody can choose texts that collide.
  readonly #parentFactor = randomInt(2 ** 31) * 2 + 1;
  readonly #codeFactor = randomInt(2 ** 31) * 2 + 1;
  /** By two characters: 1 where a text may begin with them. Skips most places of most texts. */
  readonly #pairs = new Uint8Array(2 ** 16);
  #nodeCount = 1;
  #byDepth = new Int32Array(0);

  /** For texts of at most this many characters in total, which {@link TextAutomaton.mark} adds. */
  constructor(characters: number) {
    const bits = Math.max(4, Math.ceil(Math.log2((characters + 1) * 1.5)));
    this.depths = new Int32Array(characters + 1);
    this.marks = new Uint8Array(characters + 1);
    this.links = new Int32Array(characters + 1);
    this.parents = new Int32Array(characters + 1);
    this.#codes = new Uint16Array(characters + 1);
    this.#slots = new Int32Array(2 ** bits);
    this.#shift = 32 - bits;
  }

  get nodeCount(): number {
    return this.#nodeCount;
  }

  /** All nodes except the root, each after its suffixes. Empty before {@link TextAutomaton.link}. */
  get byDepth(): Int32Array {
    return this.#byDepth;
  }

  /** Adds a text, and a mark (a bit) for its last node. Call {@link TextAutomaton.link} afterwards. */
  mark(text: string, mark: number): void {
    let node = root;
    for (let at = 0; at < text.length; at += 1) node = this.#add(node, text.charCodeAt(at));
    this.marks[node]! |= mark;
    this.#pairs[pairOf(text.charCodeAt(0), text.charCodeAt(1))] = 1;
  }

  /** The first position from `from` on where one of the texts (of two characters or more) may begin; the last position may be a false match. */
  skip(text: string, from: number): number {
    const last = text.length - 1;
    let code = text.charCodeAt(from);
    for (let at = from; at < last; at += 1) {
      const next = text.charCodeAt(at + 1);
      if (this.#pairs[pairOf(code, next)] === 1) return at;
      code = next;
    }
    return last;
  }

  /** Computes the suffix links of all nodes, shorter ones first. */
  link(): void {
    this.#byDepth = this.#sort();
    for (const node of this.#byDepth) {
      const parent = this.parents[node]!;
      this.links[node] = parent === root ? root : this.next(this.links[parent]!, this.#codes[node]!);
    }
  }

  /** The node after one more character. */
  next(node: number, code: number): number {
    for (let at = node; ; at = this.links[at]!) {
      const child = this.#child(at, code);
      if (child !== 0 || at === root) return child;
    }
  }

  /** The longest suffix of `node` with at most this many characters. */
  cutTo(node: number, characters: number): number {
    let at = node;
    while (this.depths[at]! > characters) at = this.links[at]!;
    return at;
  }

  #add(parent: number, code: number): number {
    const known = this.#child(parent, code);
    if (known !== 0) return known;
    const node = this.#nodeCount;
    this.#nodeCount += 1;
    this.parents[node] = parent;
    this.#codes[node] = code;
    this.depths[node] = this.depths[parent]! + 1;
    let slot = this.#slotOf(parent, code);
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1);
    this.#slots[slot] = node;
    return node;
  }

  #child(parent: number, code: number): number {
    const slots = this.#slots;
    for (let slot = this.#slotOf(parent, code); ; slot = (slot + 1) & (slots.length - 1)) {
      const node = slots[slot]!;
      if (node === 0 || (this.parents[node] === parent && this.#codes[node] === code)) return node;
    }
  }

  #slotOf(parent: number, code: number): number {
    const mixed = Math.imul(parent + 1, this.#parentFactor) ^ Math.imul(code + 1, this.#codeFactor);
    return Math.imul(mixed ^ (mixed >>> 15), this.#parentFactor) >>> this.#shift;
  }

  #sort(): Int32Array<ArrayBuffer> {
    const counts: number[] = [];
    for (let node = 1; node < this.#nodeCount; node += 1) {
      const depth = this.depths[node]!;
      counts[depth] = (counts[depth] ?? 0) + 1;
    }
    let start = 0;
    for (let depth = 1; depth < counts.length; depth += 1) {
      const count = counts[depth]!;
      counts[depth] = start;
      start += count;
    }
    const sorted = new Int32Array(this.#nodeCount - 1);
    for (let node = 1; node < this.#nodeCount; node += 1) {
      const depth = this.depths[node]!;
      sorted[counts[depth]!] = node;
      counts[depth]! += 1;
    }
    return sorted;
  }
}

function pairOf(first: number, second: number): number {
  return ((first << 7) ^ second) & 0xffff;
}

/** Builds an automaton for these texts; the last node of each has the mark. */
export function openAutomaton(
  texts: readonly { readonly text: string; readonly mark: number }[],
): TextAutomaton {
  const automaton = new TextAutomaton(countNodes(texts.map(({ text }) => text)));
  for (const { text, mark } of texts) automaton.mark(text, mark);
  automaton.link();
  return automaton;
}

/** Common prefixes count once. */
function countNodes(texts: readonly string[]): number {
  const sorted = [...texts].sort();
  let count = 0;
  for (const [index, text] of sorted.entries()) {
    const before = sorted[index - 1] ?? "";
    let shared = 0;
    while (shared < before.length && before.charCodeAt(shared) === text.charCodeAt(shared)) shared += 1;
    count += text.length - shared;
  }
  return count;
}
