import { graphemesOf } from "../screen/text-width.ts";
import type { Key } from "./key-reader.ts";

/** A long paste is shown as a short mark, and sent whole. */
const longPaste = { lines: 10, characters: 1_000 };

/** The text that a person writes, and where the caret is in it. Keys are those of emacs and of every shell. */
export class Editor {
  #text = "";
  #caret = 0;
  #killed = "";
  /** What the marks in the text stand for. */
  #pastes = new Map<string, string>();

  get text(): string {
    return this.#text;
  }

  get caret(): number {
    return this.#caret;
  }

  get isEmpty(): boolean {
    return this.#text === "";
  }

  /** The text with what was pasted in the place of its marks. */
  get whole(): string {
    let text = this.#text;
    for (const [mark, pasted] of this.#pastes) text = text.replaceAll(mark, () => pasted);
    return text;
  }

  set(text: string, caret = text.length): void {
    this.#text = text;
    this.#caret = caret;
  }

  clear(): void {
    this.set("");
    this.#pastes = new Map();
  }

  insert(text: string): void {
    this.#replace(this.#caret, this.#caret, text);
  }

  paste(text: string): void {
    // The end of the last line begins none.
    const lines = text.replace(/\n$/u, "").split("\n").length;
    if (lines <= longPaste.lines && text.length <= longPaste.characters) return this.insert(text);
    const size = lines > 1 ? `${lines} lines` : `${text.length} characters`;
    const mark = `[paste ${this.#pastes.size + 1}: ${size}]`;
    this.#pastes.set(mark, text);
    this.insert(mark);
  }

  /** Carries out a key that edits; false for every other key. */
  press(key: Extract<Key, { type: "key" }>): boolean {
    const edit = key.ctrl ? this.#ctrl(key.name) : key.alt ? this.#alt(key.name) : this.#plain(key.name);
    if (edit === null) return false;
    edit();
    return true;
  }

  #plain(name: string): (() => void) | null {
    switch (name) {
      case "left":
        return () => (this.#caret = this.#before());
      case "right":
        return () => (this.#caret = this.#after());
      case "home":
        return () => (this.#caret = this.#lineStart());
      case "end":
        return () => (this.#caret = this.#lineEnd());
      case "backspace":
        return () => this.#replace(this.#before(), this.#caret, "");
      case "delete":
        return () => this.#replace(this.#caret, this.#after(), "");
      case "up":
        return this.#vertical(-1);
      case "down":
        return this.#vertical(1);
      default:
        return null;
    }
  }

  #ctrl(name: string): (() => void) | null {
    switch (name) {
      case "a":
        return () => (this.#caret = this.#lineStart());
      case "e":
        return () => (this.#caret = this.#lineEnd());
      case "b":
        return this.#plain("left");
      case "f":
        return this.#plain("right");
      case "p":
        return this.#plain("up");
      case "n":
        return this.#plain("down");
      case "h":
        return this.#plain("backspace");
      case "d":
        return this.isEmpty ? null : this.#plain("delete");
      case "k":
        return () =>
          this.#kill(this.#caret, this.#caret === this.#lineEnd() ? this.#after() : this.#lineEnd());
      case "u":
        return () => this.#kill(this.#lineStart(), this.#caret);
      case "w":
        return () => this.#kill(this.#wordStart(/\s/u), this.#caret);
      case "y":
        return () => this.insert(this.#killed);
      case "j":
        return () => this.insert("\n");
      case "left":
        return this.#alt("b");
      case "right":
        return this.#alt("f");
      default:
        return null;
    }
  }

  #alt(name: string): (() => void) | null {
    switch (name) {
      case "b":
      case "left":
        return () => (this.#caret = this.#wordStart(/[^\p{L}\p{N}_]/u));
      case "f":
      case "right":
        return () => (this.#caret = this.#wordEnd());
      case "d":
        return () => this.#kill(this.#caret, this.#wordEnd());
      case "backspace":
        return () => this.#kill(this.#wordStart(/[^\p{L}\p{N}_]/u), this.#caret);
      case "enter":
        return () => this.insert("\n");
      default:
        return null;
    }
  }

  #replace(from: number, to: number, text: string): void {
    this.#text = this.#text.slice(0, from) + text + this.#text.slice(to);
    this.#caret = from + text.length;
  }

  #kill(from: number, to: number): void {
    if (from < to) this.#killed = this.#text.slice(from, to);
    this.#replace(from, to, "");
  }

  #before(): number {
    if (this.#text[this.#caret - 1] === "\n") return this.#caret - 1;
    return this.#caret - (graphemesOf(this.#text.slice(this.#lineStart(), this.#caret)).at(-1)?.length ?? 0);
  }

  #after(): number {
    return this.#caret + (graphemesOf(this.#text.slice(this.#caret, this.#caret + 64))[0]?.length ?? 0);
  }

  #lineStart(): number {
    return this.#caret === 0 ? 0 : this.#text.lastIndexOf("\n", this.#caret - 1) + 1;
  }

  #lineEnd(): number {
    const end = this.#text.indexOf("\n", this.#caret);
    return end < 0 ? this.#text.length : end;
  }

  #wordStart(gap: RegExp): number {
    let at = this.#caret;
    while (at > 0 && gap.test(this.#text[at - 1]!)) at -= 1;
    while (at > 0 && !gap.test(this.#text[at - 1]!)) at -= 1;
    return at;
  }

  #wordEnd(): number {
    const letter = /[\p{L}\p{N}_]/u;
    let at = this.#caret;
    while (at < this.#text.length && !letter.test(this.#text[at]!)) at += 1;
    while (at < this.#text.length && letter.test(this.#text[at]!)) at += 1;
    return at;
  }

  /** Null where there is no line above or below. */
  #vertical(by: -1 | 1): (() => void) | null {
    const start = this.#lineStart();
    const column = this.#caret - start;
    if (by === -1) {
      if (start === 0) return null;
      const above = start < 2 ? 0 : this.#text.lastIndexOf("\n", start - 2) + 1;
      return () => (this.#caret = Math.min(above + column, start - 1));
    }
    const end = this.#lineEnd();
    if (end === this.#text.length) return null;
    const belowEnd = this.#text.indexOf("\n", end + 1);
    const limit = belowEnd < 0 ? this.#text.length : belowEnd;
    return () => (this.#caret = Math.min(end + 1 + column, limit));
  }
}
