import xterm from "@xterm/headless";

/** A terminal in memory: what a program writes is drawn as on a real one, with its scrollback. */
export class HeadlessTerminal {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;

  constructor({ columns, rows }: { readonly columns: number; readonly rows: number }) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 20_000, allowProposedApi: true });
  }

  async write(text: string): Promise<void> {
    await new Promise<void>((resolve) => this.#terminal.write(text, resolve));
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** Everything from the first line of the scrollback to the last of the window, with wrapped rows put together. */
  lines(): string[] {
    const { buffer } = this.#terminal;
    const lines: string[] = [];
    for (let row = 0; row < buffer.active.length; row += 1) {
      const line = buffer.active.getLine(row)!;
      const next = buffer.active.getLine(row + 1);
      const text = line.translateToString(next?.isWrapped !== true);
      if (line.isWrapped && lines.length > 0) lines[lines.length - 1] += text;
      else lines.push(text);
    }
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  /** What a person sees: the rows of the window. */
  window(): string {
    const { baseY, length } = this.#terminal.buffer.active;
    const rows: string[] = [];
    for (let row = baseY; row < length; row += 1)
      rows.push(this.#terminal.buffer.active.getLine(row)!.translateToString(true));
    return rows.join("\n").trimEnd();
  }

  /** The text of the row with the cursor, up to it. */
  beforeCursor(): string {
    const { baseY, cursorX, cursorY } = this.#terminal.buffer.active;
    return this.#terminal.buffer.active.getLine(baseY + cursorY)!.translateToString(false, 0, cursorX);
  }

  /** Rows of the window below the cursor that are not empty. */
  belowCursor(): number {
    const { baseY, cursorY } = this.#terminal.buffer.active;
    return this.window().split("\n").length - 1 - cursorY + (baseY - baseY);
  }
}
