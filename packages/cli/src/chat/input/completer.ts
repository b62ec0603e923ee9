import {
  completed,
  completionTargetAt,
  type CompletionTarget,
  type Suggest,
  type Suggestion,
} from "@convoke/client/view";
import { printable } from "../../print/printable.ts";
import type { Theme } from "../screen/theme.ts";
import type { Editor } from "./editor.ts";
import type { Key } from "./key-reader.ts";

const maxShown = 8;

/** Suggestions for the word at the caret: files behind `@`, commands and skills behind `/`. */
export class Completer {
  readonly #onChange: () => void;
  #target: CompletionTarget | null = null;
  #suggestions: readonly Suggestion[] = [];
  #active = 0;
  #asking = new AbortController();
  /** Where the person closed the list; it opens again at another word. */
  #closedAt: number | null = null;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get isOpen(): boolean {
    return this.#suggestions.length > 0;
  }

  /** Looks what can be completed now; suggestions come later, those for an older text never. */
  update(editor: Editor, suggest: Suggest): void {
    const target = completionTargetAt(editor.text, editor.caret);
    if (target === null) this.#closedAt = null;
    this.#target = target?.from === this.#closedAt ? null : target;
    this.#asking.abort();
    this.#asking = new AbortController();
    if (this.#target === null) this.#suggestions = [];
    else void this.#ask(this.#target, suggest, this.#asking.signal);
  }

  /** Carries out a key of the list; false for the others. */
  press(key: Key, editor: Editor): boolean {
    if (!this.isOpen || key.type !== "key") return false;
    if (key.name === "escape") this.close();
    else if (key.name === "up" || (key.ctrl && key.name === "p")) this.#move(-1);
    else if (key.name === "down" || (key.ctrl && key.name === "n")) this.#move(1);
    else if (key.name === "tab" || (key.name === "enter" && !this.#isWhole(editor))) this.#take(editor);
    else return false;
    return true;
  }

  close(): void {
    this.#closedAt = this.#target?.from ?? null;
    this.#suggestions = [];
    this.#asking.abort();
  }

  lines({ paint, signs }: Theme): string[] {
    const first = Math.max(0, this.#active - maxShown + 1);
    return this.#suggestions.slice(first, first + maxShown).map(({ name, detail }, index) => {
      const isActive = first + index === this.#active;
      const [shortly = ""] = printable(detail).split("\n");
      return `${isActive ? signs.user : " "} ${isActive ? paint.bold(printable(name)) : printable(name)}  ${paint.dim(shortly)}`;
    });
  }

  /** What is written is what is suggested: enter sends it. */
  #isWhole({ text }: Editor): boolean {
    const chosen = this.#suggestions[this.#active];
    return (
      this.#target !== null && text.slice(this.#target.from, this.#target.to) === chosen?.insert.trimEnd()
    );
  }

  #take(editor: Editor): void {
    const chosen = this.#suggestions[this.#active];
    if (chosen === undefined || this.#target === null) return;
    const { text, caret } = completed(editor.text, this.#target, chosen);
    editor.set(text, caret);
    this.#suggestions = [];
  }

  #move(by: number): void {
    this.#active = Math.max(0, Math.min(this.#suggestions.length - 1, this.#active + by));
  }

  async #ask(target: CompletionTarget, suggest: Suggest, signal: AbortSignal): Promise<void> {
    const found = await suggest(target, signal).catch(() => []);
    if (signal.aborted) return;
    this.#suggestions = found;
    this.#active = 0;
    this.#onChange();
  }
}
