import type { Theme } from "../screen/theme.ts";
import { isTableLine, maxTableLines, tableLines } from "./markdown-table.ts";

/**
 * Shows Markdown by weight and colour alone, a line at a time, so that an answer can be shown while it comes; a table comes when it has
 * ended, with its columns below each other. Nothing is wrapped or boxed: what is copied from the terminal is the text. Marks of fences are
 * left out.
 */
export class MarkdownLines {
  readonly #theme: Theme;
  #fence: string | null = null;
  #table: string[] = [];

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  /** Lines of a table that has not ended, and that did not come out. */
  get held(): readonly string[] {
    return this.#table;
  }

  /** What can be shown once this line is there. */
  next(line: string): string[] {
    if (this.#fence === null && isTableLine(line) && this.#table.length < maxTableLines) {
      this.#table.push(line);
      return [];
    }
    return [...this.end(), ...this.#shown(line)];
  }

  /** What is still held when no line follows. */
  end(): string[] {
    const lines = tableLines(this.#table);
    this.#table = [];
    return lines.map((line, index) =>
      index === 0 && lines.length > 1 ? this.#theme.paint.bold(line) : this.#inline(line),
    );
  }

  #shown(line: string): string[] {
    const { paint } = this.#theme;
    const mark = /^\s*(`{3,}|~{3,})/u.exec(line)?.[1];
    if (this.#fence !== null) {
      if (mark === undefined || !mark.startsWith(this.#fence)) return [paint.cyan(line)];
      this.#fence = null;
      return [];
    }
    if (mark !== undefined) {
      this.#fence = mark;
      return [];
    }
    const heading = /^#{1,6}\s+(.*)$/u.exec(line)?.[1];
    if (heading !== undefined) return [paint.bold(heading)];
    const quote = /^(\s*>\s?)(.*)$/u.exec(line);
    if (quote !== null) return [`${paint.dim(quote[1]!)}${this.#inline(quote[2]!)}`];
    return [this.#inline(line)];
  }

  #inline(line: string): string {
    const { paint } = this.#theme;
    return line.replaceAll(/`([^`]+)`|\*\*([^*]+)\*\*/gu, (_, code?: string, bold?: string) =>
      code === undefined ? paint.bold(bold!) : paint.cyan(code),
    );
  }
}
