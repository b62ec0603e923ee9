import { ranked } from "@convoke/client/view";
import type { Key } from "./key-reader.ts";
import type { Theme } from "../screen/theme.ts";

export type Choice = { readonly label: string; readonly detail: string; readonly value: string };

const maxShown = 10;

/** A list below the composer from which one is chosen: letters filter it, arrows and enter choose. */
export class ChoiceList {
  readonly title: string;
  readonly #choices: readonly Choice[];
  readonly #onChoose: (value: string) => void;
  #filter = "";
  #active = 0;
  #isClosed = false;

  constructor(title: string, choices: readonly Choice[], onChoose: (value: string) => void) {
    this.title = title;
    this.#choices = choices;
    this.#onChoose = onChoose;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Every key belongs to the list until it is closed. */
  press(key: Key): void {
    if (key.type === "text" || key.type === "paste") {
      this.#filter += key.text;
      this.#active = 0;
    }
    if (key.type !== "key") return;
    const found = this.#found();
    const isEnd = key.name === "escape" || (key.ctrl && (key.name === "c" || key.name === "d"));
    if (isEnd) this.#isClosed = true;
    else if (key.name === "up" || (key.ctrl && key.name === "p")) this.#move(-1, found.length);
    else if (key.name === "down" || (key.ctrl && key.name === "n")) this.#move(1, found.length);
    else if (key.name === "backspace") this.#filter = this.#filter.slice(0, -1);
    else if (key.name === "enter" && found.length > 0) {
      this.#isClosed = true;
      this.#onChoose(found[this.#active]!.value);
    }
  }

  lines({ paint, signs }: Theme): string[] {
    const found = this.#found();
    const first = Math.max(0, Math.min(this.#active - maxShown + 1, found.length - maxShown));
    const shown = found.slice(first, first + maxShown).map(({ label, detail }, index) => {
      const isActive = first + index === this.#active;
      const text = isActive ? paint.bold(label) : label;
      return `${isActive ? signs.user : " "} ${text}  ${paint.dim(detail)}`;
    });
    const state = found.length === 0 ? "nothing fits" : `${this.#active + 1} of ${found.length}`;
    return [
      `${this.title}: ${this.#filter}_  ${paint.dim(`${state}${signs.dot}enter chooses${signs.dot}esc closes`)}`,
      ...shown,
    ];
  }

  #found(): readonly Choice[] {
    if (this.#filter === "") return this.#choices;
    return ranked(this.#choices, this.#filter, ({ label, detail }) => `${label} ${detail}`, 200);
  }

  #move(by: number, count: number): void {
    this.#active = Math.max(0, Math.min(count - 1, this.#active + by));
  }
}
