import { ScreenView } from "./screen-view.ts";
import { TextLine } from "./text-line.ts";
import { tokenize, type Token } from "./terminal-tokens.ts";

export type OutputCleanerDeps = {
  /** Receives finished text: whole lines with their newlines, colours included. */
  readonly onText: (text: string) => void;
  /** Receives the reply to a query that a program sent to the terminal. */
  readonly onReply: (bytes: string) => void;
};

/** Rows that a program may still move back to; earlier lines are finished. */
const liveRows = 60;

/** Maximum jump or repetition in a control sequence. */
const maxColumns = 4096;

/**
 * Converts terminal output to text: carriage returns and cursor moves overwrite as on a screen, colours stay, other non-text is
 * removed. Full-screen programs (editors, pagers) are shown by {@link ScreenView} while they run.
 */
export class OutputCleaner {
  readonly #deps: OutputCleanerDeps;
  #rows: TextLine[] = [new TextLine()];
  #row = 0;
  #column = 0;
  #isStyled = false;
  #saved = { row: 0, column: 0 };
  /** A single row until a program first moves up: until then a newline finishes a line. */
  #window = 1;
  #finished = "";
  /** The incomplete control sequence at the end of the last chunk. */
  #partial = "";
  #screen: ScreenView | undefined;

  constructor(deps: OutputCleanerDeps) {
    this.#deps = deps;
  }

  /** The screen of the running full-screen program; undefined without one. */
  get screen(): ScreenView | undefined {
    return this.#screen;
  }

  /** The text of the unfinished rows. */
  get live(): string {
    return this.#rows.map((row) => row.text).join("\n");
  }

  write(text: string): void {
    let whole = this.#partial + text;
    this.#partial = "";
    if (whole.endsWith("\r")) {
      // Most likely half a line end: with the other half, the next chunk can use the fast path.
      whole = whole.slice(0, -1);
      this.#partial = "\r";
    }
    const lines = whole.replace(/\r\n/g, "\n");
    if (this.#screen === undefined && this.#window === 1 && isPlain(lines)) this.#writePlain(lines);
    else this.#writeTokens(whole);
    this.#give();
  }

  /** Finishes the current rows and starts an empty one; `isEnd` also drops incomplete sequences and the screen. */
  flush(isEnd: boolean): void {
    this.#finished += this.live;
    this.#rows = [new TextLine()];
    this.#row = 0;
    this.#column = 0;
    if (isEnd) {
      this.#partial = "";
      this.#closeScreen();
    }
    this.#give();
  }

  #give(): void {
    const text = this.#finished;
    this.#finished = "";
    if (text !== "") this.#deps.onText(text);
  }

  #writePlain(text: string): void {
    const line = this.#line();
    const end = text.lastIndexOf("\n");
    if (end === -1) {
      this.#column = line.write(text, this.#column);
      return;
    }
    const first = text.indexOf("\n");
    line.write(text.slice(0, first), this.#column);
    this.#finished += line.text + text.slice(first, end + 1);
    this.#rows = [new TextLine()];
    this.#column = this.#line().write(text.slice(end + 1), 0);
  }

  #writeTokens(text: string): void {
    const { tokens, rest } = tokenize(text);
    this.#partial = rest + this.#partial;
    for (const token of tokens) {
      if (this.#screen !== undefined && token.type !== "screen") this.#screen.write(token.raw);
      else this.#apply(token);
    }
  }

  #apply(token: Token): void {
    switch (token.type) {
      case "text":
        this.#column = this.#line().write(token.raw, this.#column);
        return;
      case "control":
        this.#control(token.raw);
        return;
      case "style":
        this.#style(token.raw);
        return;
      case "cursor":
        this.#move(token.final, token.count);
        return;
      case "query":
        this.#deps.onReply(token.reply(this.#column + 1));
        return;
      case "screen":
        this.#closeScreen();
        if (token.isEntered) this.#screen = new ScreenView(this.#deps.onReply);
        return;
      case "other":
        return;
    }
  }

  /** Programs reset colours again and again; changes without effect are left out. */
  #style(codes: string): void {
    const parameters = codes.slice(2, -1);
    const isReset = /^(?:0|22|24|27|39|49|;)*$/.test(parameters);
    if (isReset && !this.#isStyled) return;
    this.#isStyled = !/^0*$/.test(parameters);
    this.#line().style(codes);
  }

  #control(character: string): void {
    if (character === "\n") this.#newLine();
    else if (character === "\r") this.#column = 0;
    else if (character === "\b") this.#column = Math.max(0, this.#column - 1);
  }

  #move(final: string, count: number): void {
    const steps = Math.min(Math.max(1, count), maxColumns);
    const line = this.#line();
    if (final === "A" || final === "F" || final === "M") this.#goUp(steps, final === "F");
    else if (final === "B" || final === "E") this.#goDown(steps, final === "E");
    else if (final === "C") this.#column = Math.min(maxColumns, this.#column + steps);
    else if (final === "D") this.#column = Math.max(0, this.#column - steps);
    else if (final === "G" || final === "`") this.#column = steps - 1;
    else if (final === "K") this.#eraseLine(line, count);
    else if (final === "P") line.remove(this.#column, steps);
    else if (final === "@") line.insert(this.#column, steps);
    else if (final === "J") this.#eraseScreen(line, count);
    else if (final === "7") this.#saved = { row: this.#row, column: this.#column };
    else if (final === "8") this.#restore();
    else this.#jump();
  }

  #goUp(steps: number, isToStart: boolean): void {
    this.#window = liveRows;
    this.#row = Math.max(0, this.#row - steps);
    if (isToStart) this.#column = 0;
  }

  #goDown(steps: number, isToStart: boolean): void {
    this.#row = Math.min(this.#rows.length - 1, this.#row + steps);
    if (isToStart) this.#column = 0;
  }

  #eraseLine(line: TextLine, count: number): void {
    if (count === 1) line.blankUntil(this.#column);
    else line.cutFrom(count === 2 ? 0 : this.#column);
  }

  #eraseScreen(line: TextLine, count: number): void {
    if (count >= 1) {
      this.#jump();
      return;
    }
    line.cutFrom(this.#column);
    this.#rows.length = this.#row + 1;
  }

  #restore(): void {
    this.#row = Math.min(this.#saved.row, this.#rows.length - 1);
    this.#column = this.#saved.column;
  }

  /** A jump to an absolute position cannot be shown in running text: the following output gets a new line. */
  #jump(): void {
    this.#row = this.#rows.length - 1;
    if (this.#line().width > 0) this.#newLine();
    this.#column = 0;
  }

  #newLine(): void {
    this.#row += 1;
    this.#column = 0;
    if (this.#row === this.#rows.length) this.#rows.push(new TextLine());
    while (this.#rows.length > this.#window) {
      this.#finished += `${this.#rows.shift()?.text}\n`;
      this.#row -= 1;
    }
  }

  #closeScreen(): void {
    this.#screen?.[Symbol.dispose]();
    this.#screen = undefined;
  }

  #line(): TextLine {
    const line = this.#rows[this.#row];
    if (line === undefined) throw new Error("The cursor left the rows.");
    return line;
  }
}

function isPlain(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are searched
  return !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text);
}
