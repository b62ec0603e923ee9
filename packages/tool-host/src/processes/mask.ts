import type { ToolSecret } from "../tool.ts";
import { secretForms, type SecretForm } from "./secret-forms.ts";

/** What stands in the place of a secret. */
export const hiddenMark = "<secret-hidden>";

/** Replaces every form of every secret in `text`; the rest of the text is unchanged. */
export function maskText(text: string, secrets: readonly ToolSecret[]): string {
  const mask = new SecretMask(secrets);
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
  #secrets: readonly ToolSecret[] = [];
  #forms: readonly SecretForm[] = [];
  /** Finds where a form may begin. */
  #heads: RegExp | undefined;
  #held = "";
  /** The last character given out before `#held`: a whole token may not begin right after a letter or digit. */
  #before = "";

  constructor(secrets: readonly ToolSecret[] = []) {
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

  /** Masks these secrets from now on. */
  setSecrets(secrets: readonly ToolSecret[]): void {
    this.#secrets = secrets;
    this.#forms = secretForms(secrets);
    this.#heads = this.#forms.length === 0 ? undefined : toHeads(this.#forms);
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
    let longest = 0;
    for (const form of this.#forms) {
      const length = overlap(text, form.text, true);
      if (length < telling.characters || length < form.text.length * telling.part) continue;
      const isInsideWord = form.isWholeToken && /[\p{L}\p{N}]$/u.test(text.slice(0, -length));
      if (!isInsideWord) longest = Math.max(longest, length);
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
      if (start >= keepFrom) break;
      masked += text.slice(done, start) + hiddenMark;
      done = found.end - offset;
      keepFrom = Math.max(keepFrom, done);
    }
    masked += text.slice(done, keepFrom);
    if (keepFrom > 0) this.#before = text.slice(keepFrom - 1, keepFrom);
    this.#held = text.slice(keepFrom);
    return masked;
  }

  /** The first form in `subject` at or after `from`; where several begin, the first in the order of the forms. */
  #find(subject: string, from: number): { readonly start: number; readonly end: number } | null {
    const heads = this.#heads!;
    heads.lastIndex = from;
    for (let match = heads.exec(subject); match !== null; match = heads.exec(subject)) {
      const start = match.index;
      const form = this.#forms.find((candidate) => isAt(subject, start, candidate));
      if (form !== undefined) return { start, end: start + form.text.length };
      heads.lastIndex = start + 1;
    }
    return null;
  }

  /** Where the longest ending of `text` starts that more text could turn into a secret. */
  #undecidedFrom(text: string): number {
    let longest = 0;
    for (const form of this.#forms) {
      // A whole token at the very end is undecided too: the next character may make it part of a word.
      longest = Math.max(longest, overlap(text, form.text, form.isWholeToken));
    }
    return text.length - longest;
  }
}

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
function toHeads(forms: readonly SecretForm[]): RegExp {
  const length = forms.length > 500 ? 4 : 24;
  const heads = new Set(forms.map(({ text }) => text.slice(0, length)));
  const escaped = [...heads].map((head) => head.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  return new RegExp(escaped.join("|"), "g");
}

function isAt(subject: string, start: number, { text, isWholeToken }: SecretForm): boolean {
  if (!subject.startsWith(text, start)) return false;
  if (!isWholeToken) return true;
  const end = start + text.length;
  // Two units, because letters beyond the first plane have two.
  const isPart =
    /[\p{L}\p{N}]$/u.test(subject.slice(Math.max(0, start - 2), start)) ||
    /^[\p{L}\p{N}]/u.test(subject.slice(end, end + 2));
  return !isPart;
}
