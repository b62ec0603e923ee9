import type { Theme } from "../screen/theme.ts";

/**
 * Shows Markdown by weight and colour alone, a line at a time, so that an answer can be shown while it comes. Nothing is wrapped,
 * boxed or padded: what is copied from the terminal is the text. Marks of fences are left out.
 */
export class MarkdownLines {
  readonly #theme: Theme;
  #fence: string | null = null;

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  /** The line as it is shown; null for one that is left out. */
  next(line: string): string | null {
    const { paint } = this.#theme;
    const mark = /^\s*(`{3,}|~{3,})/u.exec(line)?.[1];
    if (this.#fence !== null) {
      if (mark === undefined || !mark.startsWith(this.#fence)) return paint.cyan(line);
      this.#fence = null;
      return null;
    }
    if (mark !== undefined) {
      this.#fence = mark;
      return null;
    }
    const heading = /^#{1,6}\s+(.*)$/u.exec(line)?.[1];
    if (heading !== undefined) return paint.bold(heading);
    if (/^\s*>/u.test(line)) return paint.dim(line);
    return line.replaceAll(/`([^`]+)`|\*\*([^*]+)\*\*/gu, (_, code?: string, bold?: string) =>
      code === undefined ? paint.bold(bold!) : paint.cyan(code),
    );
  }
}
