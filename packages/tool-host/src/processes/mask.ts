import type { ToolSecret } from "../tool.ts";
import { noForm, openPlaces, type SecretPlaces } from "./secret-places.ts";
import { isPartBefore, contextLength } from "./secret-starts.ts";
import { root } from "./text-automaton.ts";

/** Replaces a secret. */
export const hiddenMark = "<secret-hidden>";

/** Replaces every form of every secret in `text`, except inside spared texts; other text is unchanged. */
export function maskText(
  text: string,
  secrets: readonly ToolSecret[],
  spared: readonly string[] = [],
): string {
  const mask = new SecretMask(secrets, spared);
  return mask.push(text) + mask.flush();
}

/** Like {@link maskText}, for a text that was cut off, see {@link SecretMask.cut}. */
export function maskCutText(text: string, secrets: readonly ToolSecret[]): string {
  const mask = new SecretMask(secrets);
  return mask.push(text) + mask.cut();
}

/**
 * A partial secret is masked when it reveals too much: at least this many characters, and a third of its written form. Shorter
 * matches stay, because every word begins like some secret.
 */
const recognisable = { characters: 6, part: 1 / 3 } as const;

/** At least an eighth of a longer held text is emitted at once, because each push searches all of it. */
const shortHeld = 4_096;

/**
 * Masks a text that arrives in chunks: text that may begin a secret is held until the next chunk decides. The returned chunks,
 * joined, are the same as {@link maskText} of the whole.
 */
export class SecretMask {
  readonly #mayBeSpared: readonly string[];
  #secrets: readonly ToolSecret[] = [];
  /** Undefined when there are no secrets. */
  #places: SecretPlaces | undefined;
  #held = "";
  /** A high surrogate at the very end: only with its other half it is known whether it is a letter. */
  #half = "";
  /** The last characters before `#held`: they decide whether a whole token may begin there. */
  #before = "";
  /** Automaton node of the end of `#held`. */
  #node: number = root;
  /** Where the first and the last form in `#held` end, if any; token bounds are not checked yet. */
  #hits: Hits | null = null;

  /** `spared`: public texts, such as the path of the workspace. What is inside of them is not masked. */
  constructor(secrets: readonly ToolSecret[] = [], spared: readonly string[] = []) {
    this.#mayBeSpared = spared;
    this.setSecrets(secrets);
  }

  /** The held text, which may begin a secret. Must not be shown. */
  get held(): string {
    return this.#held + this.#half;
  }

  /** The secrets masked now. */
  get secrets(): readonly ToolSecret[] {
    return this.#secrets;
  }

  /** The texts that stay as they are. */
  get spared(): readonly string[] {
    return this.#mayBeSpared;
  }

  /** Masks these secrets from now on. */
  setSecrets(secrets: readonly ToolSecret[]): void {
    this.#secrets = secrets;
    this.#places = openPlaces(secrets, this.#mayBeSpared);
    this.#node = root;
    this.#hits = null;
    this.#read(this.#held, 0);
  }

  /** Pushes a chunk and returns the text that can be emitted. */
  push(text: string): string {
    const joined = this.#half + text;
    this.#half = /[\uD800-\uDBFF]$/.test(joined) ? joined.slice(-1) : "";
    this.#add(this.#half === "" ? joined : joined.slice(0, -1));
    return this.#take(false);
  }

  /** Returns the held text; the next chunk starts a new text. */
  flush(): string {
    this.#add(this.#half);
    this.#half = "";
    const rest = this.#take(true);
    this.#before = "";
    return rest;
  }

  /**
   * Like {@link SecretMask.flush}, for a text that was cut off: a partial secret at its very end is masked too when it is
   * {@link recognisable}. The end of a complete text stays, because it is a text of its own.
   */
  cut(): string {
    this.#add(this.#half);
    this.#half = "";
    const length = this.#cutLength(this.#held, this.#node);
    this.#held = this.#held.slice(0, this.#held.length - length);
    const whole = this.flush();
    return length === 0 ? whole : whole + hiddenMark;
  }

  /** True when {@link SecretMask.cut} would mask something after `more` is pushed. */
  endsInside(more: string): boolean {
    if (this.#places === undefined) return false;
    let node = this.#node;
    for (let at = 0; at < more.length; at += 1) node = this.#places.forward.next(node, more.charCodeAt(at));
    return this.#cutLength(this.#held + more, node) > 0;
  }

  /** Length of the partial secret at the end of `text`, which ends at `node`; 0 when it reveals too little. */
  #cutLength(text: string, node: number): number {
    if (this.#places === undefined) return 0;
    const { forward, shortest } = this.#places;
    for (let at = node; forward.depths[at]! >= recognisable.characters; at = forward.links[at]!) {
      // The beginning of a spared text is no sign of a secret, nor is anything shorter.
      if (shortest.spared[at] !== noForm) return 0;
      const length = forward.depths[at]!;
      const before = (this.#before + text).slice(0, -length).slice(-contextLength);
      const isRecognisable = (["none", "token", "word"] as const).some(
        (bounds) => length >= shortest[bounds][at]! * recognisable.part && !isPartBefore(before, bounds),
      );
      if (isRecognisable) return length;
    }
    return 0;
  }

  #add(text: string): void {
    this.#read(text, this.#held.length);
    this.#held += text;
  }

  /** Continues the search to the end of `text`, which begins at `offset` of the held text. */
  #read(text: string, offset: number): void {
    const places = this.#places;
    if (places === undefined) return;
    let node = this.#node;
    for (let at = 0; at < text.length; at += 1) {
      if (node === root) at = places.forward.skip(text, at);
      node = places.forward.next(node, text.charCodeAt(at));
      if (!places.isHit(node)) continue;
      const end = offset + at + 1;
      this.#hits = { first: this.#hits?.first ?? end, last: end };
    }
    this.#node = node;
  }

  /** Emits the decided part of the held text. */
  #take(isEnd: boolean): string {
    const text = this.#held;
    const decided = isEnd ? text.length : text.length - (this.#places?.undecided(this.#node) ?? 0);
    if (decided === 0) return "";
    if (!isEnd && text.length > shortHeld && decided < text.length / 8) return "";
    const masked =
      this.#hits === null ? { text: text.slice(0, decided), end: decided } : this.#maskTo(decided);
    this.#before = (this.#before + text.slice(Math.max(0, masked.end - contextLength), masked.end)).slice(
      -contextLength,
    );
    this.#held = text.slice(masked.end);
    const last = (this.#hits?.last ?? 0) - masked.end;
    // Where the first remaining form ends is unknown, but it is after the decided position.
    this.#hits = last > 0 ? { first: 1, last } : null;
    this.#node = isEnd ? root : (this.#places?.forward.cutTo(this.#node, this.#held.length) ?? root);
    return masked.text;
  }

  /** The held text up to `decided`, masked, and the end of it: after `decided` when a secret began before it. */
  #maskTo(decided: number): { readonly text: string; readonly end: number } {
    const { first, last } = this.#hits!;
    const offset = this.#before.length;
    const subject = this.#before + this.#held;
    const { longest, longestSpared, starts } = this.#places!;
    const to = Math.min(this.#held.length, last + longestSpared);
    const from = Math.min(to, Math.max(0, first - Math.max(longest, longestSpared)));
    const { forms, spared } = starts.find(subject, from + offset, to + offset);
    let masked = "";
    let done = 0;
    let end = decided;
    for (let at = from; at < Math.min(end, to); at = Math.max(at + 1, done)) {
      const sparedLength = spared[at - from]!;
      const isSpared = sparedLength > 0 && !reachesOut(forms, at - from, sparedLength);
      const length = isSpared ? sparedLength : forms[at - from]!;
      if (length === 0) continue;
      // A secret may still begin inside a spared text and extend beyond it.
      if (isSpared && at + length > end) return { text: masked + this.#held.slice(done, at), end: at };
      masked += this.#held.slice(done, isSpared ? at + length : at) + (isSpared ? "" : hiddenMark);
      done = at + length;
      end = Math.max(end, done);
    }
    return { text: masked + this.#held.slice(done, end), end };
  }
}

type Hits = { readonly first: number; readonly last: number };

/** True when a form begins inside a spared text and extends beyond it. */
function reachesOut(forms: Int32Array, start: number, length: number): boolean {
  const end = start + length;
  for (let at = start; at < Math.min(end, forms.length); at += 1) if (at + forms[at]! > end) return true;
  return false;
}
