import type { ToolSecret } from "../tool.ts";
import { secretForms, type Bounds, type SecretForm } from "./secret-forms.ts";

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
const telling = { characters: 6, part: 1 / 3 } as const;

/**
 * Masks a text that arrives in pieces: what may be the beginning of a secret is held back until the next piece
 * decides. The pieces returned, joined, are what {@link maskText} gives for the whole.
 */
export class SecretMask {
  readonly #mayBeSpared: readonly string[];
  #secrets: readonly ToolSecret[] = [];
  #forms: readonly SecretForm[] = [];
  /** Of the texts that stay as they are, those that hold a form; longest first. */
  #spared: readonly string[] = [];
  /** Finds where a form or a spared text may begin. */
  #heads: RegExp | undefined;
  #held = "";
  /** The last characters before `#held`: they tell whether a whole token may begin there. */
  #before = "";

  /** Texts in `spared`, such as the path of the workspace, are public: what is inside of them is left as it is. */
  constructor(secrets: readonly ToolSecret[] = [], spared: readonly string[] = []) {
    this.#mayBeSpared = spared;
    this.setSecrets(secrets);
  }

  /** What is held back: it may be the beginning of a secret. Not to be shown. */
  get held(): string {
    return this.#held;
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
    this.#forms = secretForms(secrets);
    this.#spared = [...new Set(this.#mayBeSpared)]
      .filter((text) => this.#forms.some((form) => text.includes(form.text)))
      .sort((a, b) => b.length - a.length);
    this.#heads =
      this.#forms.length === 0
        ? undefined
        : toHeads([...this.#forms.map((form) => form.text), ...this.#spared]);
  }

  /** Takes the next piece and returns what can be given out. */
  push(text: string): string {
    return this.#take(this.#held + text, false);
  }

  /** Returns what is held back; the next piece starts a new text. */
  flush(): string {
    const rest = this.#take(this.#held, true);
    this.#before = "";
    return rest;
  }

  /**
   * Like {@link SecretMask.flush}, for a text that ends because somebody cut it off: a beginning of a secret at its very end
   * is masked too when it is {@link telling}. Where a text ends by itself, such an ending is a text of its own, and stays.
   */
  cut(): string {
    const length = Math.min(this.#cutLength(this.#before + this.#held), this.#held.length);
    const whole = this.#take(this.#held.slice(0, this.#held.length - length), true);
    this.#before = "";
    return length === 0 ? whole : whole + hiddenMark;
  }

  /** True when {@link SecretMask.cut} would hide something, with `more` behind what was pushed. */
  endsInside(more: string): boolean {
    return this.#cutLength(this.#before + this.#held + more) > 0;
  }

  /** Length of the beginning of a secret that `text` ends with; 0 when it tells too little. */
  #cutLength(text: string): number {
    const sparedLength = Math.max(0, ...this.#spared.map((spared) => overlap(text, spared, true)));
    let longest = 0;
    for (const form of this.#forms) {
      const length = overlap(text, form.text, true);
      if (length < telling.characters || length < form.text.length * telling.part) continue;
      if (length <= sparedLength || isPartBefore(text.slice(0, -length), form.bounds)) continue;
      longest = Math.max(longest, length);
    }
    return longest;
  }

  #take(text: string, isEnd: boolean): string {
    if (this.#heads === undefined || text === "") {
      this.#held = "";
      return text;
    }
    let keepFrom = isEnd ? text.length : this.#undecidedFrom(text);
    const offset = this.#before.length;
    const subject = this.#before + text;
    let masked = "";
    let done = 0;
    for (
      let found = this.#find(subject, offset);
      found !== null;
      found = this.#find(subject, done + offset)
    ) {
      const start = found.start - offset;
      const end = found.end - offset;
      if (start >= keepFrom) break;
      if (found.isSpared && end > keepFrom) {
        // A secret may still begin inside of it and reach beyond.
        keepFrom = start;
        break;
      }
      masked += text.slice(done, found.isSpared ? end : start) + (found.isSpared ? "" : hiddenMark);
      done = end;
      keepFrom = Math.max(keepFrom, done);
    }
    masked += text.slice(done, keepFrom);
    this.#before = subject.slice(0, keepFrom + offset).slice(-lookBehind);
    this.#held = text.slice(keepFrom);
    return masked;
  }

  /** What begins first in `subject` at or after `from`; where several do, a spared text, then the first of the forms. */
  #find(subject: string, from: number): Found | null {
    const heads = this.#heads!;
    heads.lastIndex = from;
    for (let match = heads.exec(subject); match !== null; match = heads.exec(subject)) {
      const start = match.index;
      const spared = this.#spared.find((text) => subject.startsWith(text, start));
      if (spared !== undefined && !this.#reachesOut(subject, start, start + spared.length)) {
        return { start, end: start + spared.length, isSpared: true };
      }
      const form = this.#forms.find((candidate) => isAt(subject, start, candidate));
      if (form !== undefined) return { start, end: start + form.text.length, isSpared: false };
      heads.lastIndex = start + 1;
    }
    return null;
  }

  /** True when a form begins between `start` and `end` and goes on behind it. */
  #reachesOut(subject: string, start: number, end: number): boolean {
    for (let at = start; at < end; at += 1) {
      const isBeyond = this.#forms.some((form) => at + form.text.length > end && isAt(subject, at, form));
      if (isBeyond) return true;
    }
    return false;
  }

  /** Where the longest ending of `text` starts that more text could turn into a secret, or into something spared. */
  #undecidedFrom(text: string): number {
    let longest = 0;
    for (const form of this.#forms) {
      // A whole token at the very end is undecided too: the next characters may make it part of a word.
      longest = Math.max(longest, overlap(text, form.text, form.bounds !== "none"));
      if (form.bounds === "word" && text.endsWith(`${form.text}.`))
        longest = Math.max(longest, form.text.length + 1);
    }
    for (const spared of this.#spared) longest = Math.max(longest, overlap(text, spared, false));
    return text.length - longest;
  }
}

type Found = { readonly start: number; readonly end: number; readonly isSpared: boolean };

/** Length of the longest ending of `text` that begins `form`; all of `form` counts only when `mayBeWhole`. */
function overlap(text: string, form: string, mayBeWhole: boolean): number {
  const most = Math.min(text.length, mayBeWhole ? form.length : form.length - 1);
  const tail = text.slice(text.length - most);
  for (let at = tail.indexOf(form.charAt(0)); at !== -1; at = tail.indexOf(form.charAt(0), at + 1)) {
    if (form.startsWith(tail.slice(at))) return tail.length - at;
  }
  return 0;
}

/** More characters find fewer places in vain; too many of them and an expression cannot be compiled. */
function toHeads(texts: readonly string[]): RegExp {
  const length = texts.length > 500 ? 4 : 24;
  const heads = new Set(texts.map((text) => text.slice(0, length)));
  const escaped = [...heads].map((head) => head.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  return new RegExp(escaped.join("|"), "g");
}

function isAt(subject: string, start: number, { text, bounds }: SecretForm): boolean {
  if (!subject.startsWith(text, start)) return false;
  if (bounds === "none") return true;
  const end = start + text.length;
  if (isPartBefore(subject.slice(Math.max(0, start - lookBehind), start), bounds)) return false;
  const after = subject.slice(end, end + 3);
  return !(bounds === "token" ? /^[\p{L}\p{N}]/u : /^(?:[\p{L}\p{N}/_-]|\.[\p{L}\p{N}])/u).test(after);
}

/** As long as the longest escape, `\u001b`; letters beyond the first plane have two units. */
const lookBehind = 6;

/** True when what follows `before` is the rest of a longer word, for a path or a name of several words too with `word`. */
function isPartBefore(before: string, bounds: Bounds): boolean {
  if (bounds === "none") return false;
  const touches = bounds === "token" ? /[\p{L}\p{N}]$/u : /[\p{L}\p{N}/_.-]$/u;
  // The letter of an escape, as JSON has them, is no letter.
  return touches.test(before) && !/\\(?:[nrtbf]|u[\da-f]{4})$/i.test(before);
}
