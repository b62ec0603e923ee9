import { cutAt, rowsOf, withoutTabs } from "./text-width.ts";

export type Size = { readonly columns: number; readonly rows: number };

/** What the chat draws on; {@link Screen}, or lines alone for screen readers. */
export type Drawing = Pick<Screen, "size" | "commit" | "setArea" | "frame" | "resize" | "clearArea"> & {
  /** Whether the terminal edits lines itself and sends them with an enter. */
  readonly readsLines: boolean;
};

/** What of an area is said to a person who does not see it. */
export type Spoken = {
  /** Said when it changes. */
  readonly news: readonly string[];
  /** What is awaited, said now and then; null: nothing. */
  readonly awaited: string | null;
  /** Whether the agent waits for an answer of the person: its work is not done. */
  readonly isAsking: boolean;
};

/** The lines below what is finished, redrawn as often as they change; the cursor stands in one of them. */
export type BottomArea = {
  readonly lines: readonly string[];
  /** Index of a line, and a column of it, from 0. */
  readonly cursor: { readonly line: number; readonly column: number };
  readonly spoken: Spoken;
};

const silent: Spoken = { news: [], awaited: null, isAsking: false };
const noArea: BottomArea = { lines: [], cursor: { line: 0, column: 0 }, spoken: silent };
/** Terminals that know it show all of a frame at once; the others ignore it. */
const together = { begin: "\u001b[?2026h", end: "\u001b[?2026l" };
/**
 * Begins one cell to the right, because tmux moves a window into its history that is erased from its first cell on; then the first row, which
 * is not the rest of the line above it any more.
 */
const eraseDown = "\u001b[C\u001b[J\r\u001b[K";
const eraseLine = "\u001b[2K";

/**
 * Draws into the terminal's normal screen: finished lines are written once and belong to the scrollback, with the terminal's own
 * wrapping; below them is an area of lines that is replaced. Nothing is cleared but that area.
 */
export class Screen {
  readonly readsLines = false;
  readonly #write: (text: string) => void;
  #size: Size;
  #finished: string[] = [];
  #wanted = noArea;
  /** What is on the terminal now. */
  #shown = noArea;
  /** Rows from the top of the shown area down to the cursor. */
  #cursorRow = 0;
  #isStale = false;

  constructor(write: (text: string) => void, size: Size) {
    this.#write = write;
    this.#size = size;
  }

  get size(): Size {
    return this.#size;
  }

  /** Adds a finished text, which may have several lines. It is written with the next frame. */
  commit(text: string): void {
    this.#finished.push(text.replaceAll("\n", "\r\n"));
  }

  /** The area of the next frame. Of lines that do not fit, those farthest above the cursor are left out. */
  setArea(area: Omit<BottomArea, "spoken"> & Partial<Pick<BottomArea, "spoken">>): void {
    this.#wanted = { spoken: silent, ...area };
  }

  /** Writes what has changed since the last frame, in one piece; nothing when nothing has. */
  frame(): void {
    const area = fitted(this.#wanted, this.#size);
    const isMoved =
      area.cursor.line !== this.#shown.cursor.line || area.cursor.column !== this.#shown.cursor.column;
    const isChanged = area.lines.length !== this.#shown.lines.length || this.#finished.length > 0;
    const different = area.lines.flatMap((line, index) => (line === this.#shown.lines[index] ? [] : [index]));
    if (!isMoved && !isChanged && !this.#isStale && different.length === 0) return;
    const drawn =
      isChanged || this.#isStale
        ? `${this.#toTop()}${eraseDown}${this.#takeFinished()}${area.lines.join("\r\n")}${toCursor(area, area.lines.length - 1)}`
        : this.#redrawn(area, different);
    this.#write(`${together.begin}${drawn}${together.end}`);
    this.#shown = area;
    this.#cursorRow = area.cursor.line;
    this.#isStale = false;
  }

  /** The terminal has another size: its lines may be wrapped again, so the area is found again by how many rows it takes now. */
  resize(size: Size): void {
    const { lines, cursor } = this.#shown;
    // Terminals differ about the cursor's own line; counting it once never erases what is finished.
    const above = lines.slice(0, cursor.line).reduce((sum, line) => sum + rowsOf(line, size.columns), 0);
    this.#cursorRow = Math.min(above, size.rows - 1);
    this.#size = size;
    this.#isStale = true;
  }

  /** Takes the area away, with the cursor where it began: for a program that has the terminal meanwhile, and at the end. */
  clearArea(): void {
    const rest = this.#takeFinished();
    if (this.#shown.lines.length === 0 && rest === "") return;
    this.#write(`${this.#toTop()}${eraseDown}${rest}`);
    this.#shown = noArea;
    this.#cursorRow = 0;
    this.#isStale = true;
  }

  #toTop(): string {
    return `\r${up(this.#cursorRow)}`;
  }

  #takeFinished(): string {
    const text = this.#finished.map((line) => `${line}\r\n`).join("");
    this.#finished = [];
    return text;
  }

  #redrawn(area: BottomArea, different: readonly number[]): string {
    let row = this.#cursorRow;
    let text = "";
    for (const index of different) {
      text += `\r${move(index - row)}${eraseLine}${area.lines[index]}`;
      row = index;
    }
    return `${text}${toCursor(area, row)}`;
  }
}

function fitted({ lines, cursor, spoken }: BottomArea, { columns, rows }: Size): BottomArea {
  // At least the line with the cursor stays, and at most all but one row of the window.
  const maxLines = Math.max(1, rows - 1);
  const below = Math.min(lines.length - 1 - cursor.line, Math.max(0, maxLines - 1));
  const last = cursor.line + below;
  const first = Math.max(0, last + 1 - maxLines);
  return {
    lines: lines.slice(first, last + 1).map((line) => cutAt(withoutTabs(line), columns - 1)),
    cursor: { line: cursor.line - first, column: Math.min(cursor.column, columns - 1) },
    spoken,
  };
}

/** From a line of the area, in any column, to the cursor's place. */
function toCursor({ cursor }: BottomArea, from: number): string {
  const right = cursor.column === 0 ? "" : `\u001b[${cursor.column}C`;
  return `\r${move(cursor.line - Math.max(0, from))}${right}`;
}

function move(rows: number): string {
  if (rows === 0) return "";
  return rows < 0 ? up(-rows) : `\u001b[${rows}B`;
}

function up(rows: number): string {
  return rows === 0 ? "" : `\u001b[${rows}A`;
}
