import { printable } from "../../print/printable.ts";
import type { Theme } from "../screen/theme.ts";
import { MarkdownLines } from "./markdown-lines.ts";

/** An answer that is shown while it comes: each of its lines once, when it is whole. */
export class StreamedAnswer {
  readonly #theme: Theme;
  #markdown: MarkdownLines;
  /** The text whose lines came out. */
  #shown = "";
  #answerId: string | null = null;
  #hasBegun = false;

  constructor(theme: Theme) {
    this.#theme = theme;
    this.#markdown = new MarkdownLines(theme);
  }

  /** The lines that are whole by now and did not come out. */
  advance(text: string, answerId: string | null): string[] {
    if (this.#shown !== "" && (answerId !== this.#answerId || !text.startsWith(this.#shown))) {
      // The next try of the model call writes another answer.
      if (text === "") return [];
      return [this.#withdrawn(), ...this.#restarted(text, answerId)];
    }
    this.#answerId = answerId;
    const end = text.lastIndexOf("\n") + 1;
    return this.#lines(text.slice(this.#shown.length, end), text.slice(0, end));
  }

  /** The end of a text whose beginning is shown. */
  unfinished(text: string): string {
    if (!text.startsWith(this.#shown)) return "";
    const line = [...this.#markdown.held, printable(text.slice(this.#shown.length))].join("\n");
    if (line === "") return "";
    const [first = "", ...rest] = line.split("\n");
    return [
      `${this.#hasBegun ? "  " : `${this.#theme.signs.answer} `}${first}`,
      ...rest.map((one) => `  ${one}`),
    ].join("\n");
  }

  /** The lines of the stored text that did not come out; null where what came out was another text, or nothing. */
  rest(text: string): string[] | null {
    if (this.#shown === "") return null;
    if (!text.startsWith(this.#shown.trimEnd())) return null;
    const rest = text.slice(Math.min(this.#shown.length, text.length)).trimEnd();
    const lines = rest === "" ? [] : this.#lines(`${rest}\n`, text);
    return [...lines, ...this.#drawn(this.#markdown.end())];
  }

  #restarted(text: string, answerId: string | null): string[] {
    this.#shown = "";
    this.#hasBegun = false;
    this.#markdown = new MarkdownLines(this.#theme);
    return this.advance(text, answerId);
  }

  #withdrawn(): string {
    return this.#theme.paint.dim(`${this.#theme.signs.note} the model started again`);
  }

  #lines(added: string, shown: string): string[] {
    if (added === "") return [];
    this.#shown = shown;
    return printable(added)
      .replace(/\n$/u, "")
      .split("\n")
      .flatMap((line) => this.#drawn(this.#markdown.next(line)));
  }

  #drawn(lines: readonly string[]): string[] {
    return lines.flatMap((line) => {
      if (line === "" && !this.#hasBegun) return [];
      const sign = this.#hasBegun ? "  " : `${this.#theme.signs.answer} `;
      this.#hasBegun = true;
      return [`${sign}${line}`.trimEnd()];
    });
  }
}
