import type { ToolSecret } from "../tool.ts";
import { noForm, openPlaces, type SecretPlaces } from "./secret-places.ts";
import { isPartBefore, contextLength } from "./secret-starts.ts";
import { root } from "./text-automaton.ts";

/** What stands in the place of a secret. */
export const hiddenMark = "<secret-hidden>";

/** Replaces every form of every secret in `text`, but for those inside a spared text; the rest of the text is unchanged. */
export function maskText(
  text: string,
  secrets: readonly ToolSecret[],
  spared: readonly string[] = [],
): string {
  const mask = new SecretMask(secrets, spared);
  return mask.push(text) + mask.flush();
}

/** The same for a text that was cut off, see {@link SecretMask.cut}. */
export function maskCutText(text: string, secrets: readonly ToolSecret[]): string {
  const mask = new SecretMask(secrets);
  return mask.push(text) + mask.cut();
}

/**
 * So much of a secret tells too much of it: this many characters, and at least a third of how it is written. Less is left as it
 * is, because every word begins like some secret.
 */
const recognisable = { characters: 6, part: 1 / 3 } as const;

/** Of a longer text that is held back at least an eighth is given out at once, because all of it is looked through then. */
const shortHeld = 4_096;

/**
 * Masks a text that arrives in pieces: what may be the beginning of a secret is held back until the next piece
 * decides. The pieces returned, joined, are what {@link maskText} gives for the whole.
 */
export class SecretMask {
  readonly #mayBeSpared: readonly string[];
  #secrets: readonly ToolSecret[] = [];
  /** Undefined where nothing is masked. */
  #places: SecretPlaces | undefined;
  #held = "";
  /** The first half of a character at the very end: only with the other half it is known whether it is a letter. */
  #half = "";
  /** The last characters before `#held`: they tell whether a whole token may begin there. */
  #before = "";
  /** What `#held` ends with. */
  #node: number = root;
  /** Where in `#held` the first form ends and the last one, as far as forms are there; bounds are not judged yet. */
  #hits: Hits | null = null;

  /** Texts in `spared`, such as the path of the workspace, are public: what is inside of them is left as it is. */
  constructor(secrets: readonly ToolSecret[] = [], spared: readonly string[] = []) {
    this.#mayBeSpared = spared;
    this.setSecrets(secrets);
  }

  /** What is held back: it may be the beginning of a secret. Not to be shown. */
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

  /** Takes the next piece and returns what can be given out. */
  push(text: string): string {
    const joined = this.#half + text;
    this.#half = /[\uD800-\uDBFF]$/.test(joined) ? joined.slice(-1) : "";
    this.#add(this.#half === "" ? joined : joined.slice(0, -1));
    return this.#take(false);
  }

  /** Returns what is held back; the next piece starts a new text. */
  flush(): string {
    this.#add(this.#half);
    this.#half = "";
    const rest = this.#take(true);
    this.#before = "";
    return rest;
  }

  /**
   * Like {@link SecretMask.flush}, for a text that ends because somebody cut it off: a beginning of a secret at its very end
   * is masked too when it is {@link telling}. Where a text ends by itself, such an ending is a text of its own, and stays.
   */
  cut(): string {
    this.#add(this.#half);
    this.#half = "";
    const length = this.#cutLength(this.#held, this.#node);
    this.#held = this.#held.slice(0, this.#held.length - length);
    const whole = this.flush();
    return length === 0 ? whole : whole + hiddenMark;
  }

  /** True when {@link SecretMask.cut} would hide something, with `more` behind what was pushed. */
  endsInside(more: string): boolean {
    if (this.#places === undefined) return false;
    let node = this.#node;
    for (let at = 0; at < more.length; at += 1) node = this.#places.forward.next(node, more.charCodeAt(at));
    return this.#cutLength(this.#held + more, node) > 0;
  }

  /** Length of the beginning of a secret that `text`, which ends at `node`, ends with; 0 when it tells too little. */
  #cutLength(text: string, node: number): number {
    if (this.#places === undefined) return 0;
    const { forward, shortest } = this.#places;
    for (let at = node; forward.depths[at]! >= recognisable.characters; at = forward.links[at]!) {
      // What begins a spared text as well is no sign of a secret, nor is anything shorter.
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

  /** Goes on to the end of `text`, which begins at `offset` of what is held. */
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

  /** Gives out what is decided of what is held. */
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
    // Where the first of the others ends is not known, but behind the place that was decided.
    this.#hits = last > 0 ? { first: 1, last } : null;
    this.#node = isEnd ? root : (this.#places?.forward.cutTo(this.#node, this.#held.length) ?? root);
    return masked.text;
  }

  /** What is held up to `decided`, masked, and where that ends: behind it when a secret began before it. */
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
      // A secret may still begin inside of what is spared and reach beyond.
      if (isSpared && at + length > end) return { text: masked + this.#held.slice(done, at), end: at };
      masked += this.#held.slice(done, isSpared ? at + length : at) + (isSpared ? "" : hiddenMark);
      done = at + length;
      end = Math.max(end, done);
    }
    return { text: masked + this.#held.slice(done, end), end };
  }
}

type Hits = { readonly first: number; readonly last: number };

/** True when a form begins inside of what is spared and goes on behind it. */
function reachesOut(forms: Int32Array, start: number, length: number): boolean {
  const end = start + length;
  for (let at = start; at < Math.min(end, forms.length); at += 1) if (at + forms[at]! > end) return true;
  return false;
}
