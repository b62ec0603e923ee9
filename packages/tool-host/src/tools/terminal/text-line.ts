/** One line of terminal text with its colours; most lines only grow, so cells are created only when one is overwritten. */
export class TextLine {
  #plain = "";
  #width = 0;
  /** Per character: its colour codes and the character. Undefined while the line only grew. */
  #cells: string[] | undefined;
  /** Colour codes for the next character. */
  #style = "";

  /** Number of characters, without colour codes. */
  get width(): number {
    return this.#cells?.length ?? this.#width;
  }

  get text(): string {
    return this.#cells === undefined ? this.#plain + this.#style : this.#cells.join("") + this.#style;
  }

  /** Takes colour codes for what is written next. */
  style(codes: string): void {
    this.#style += codes;
  }

  /** Writes printable text at `column`, over what is there; returns the column after it. */
  write(text: string, column: number): number {
    if (text === "") return column;
    if (this.#cells === undefined && column === this.#width) {
      this.#plain += this.#style + text;
      this.#style = "";
      this.#width += text.length;
      return this.#width;
    }
    const cells = this.#editable();
    while (cells.length < column) cells.push(" ");
    let at = column;
    for (const character of text) {
      cells[at] = this.#style + character;
      this.#style = "";
      at += 1;
    }
    return at;
  }

  /** Removes everything from `column` on. */
  cutFrom(column: number): void {
    if (column < this.width) this.#editable().length = column;
  }

  /** Replaces everything up to and including `column` by spaces. */
  blankUntil(column: number): void {
    const cells = this.#editable();
    for (let at = 0; at <= column && at < cells.length; at += 1) cells[at] = " ";
  }

  /** Removes `count` characters at `column`; what follows moves left. */
  remove(column: number, count: number): void {
    if (column < this.width) this.#editable().splice(column, count);
  }

  /** Puts `count` spaces at `column`; what follows moves right. */
  insert(column: number, count: number): void {
    if (column < this.width) this.#editable().splice(column, 0, ...Array.from({ length: count }, () => " "));
  }

  #editable(): string[] {
    if (this.#cells !== undefined) return this.#cells;
    const cells: string[] = [];
    let style = "";
    // oxlint-disable-next-line no-control-regex -- colour codes begin with the escape character
    for (const [token] of this.#plain.matchAll(/\u001b\[[\d;:]*m|[^]/gu)) {
      if (token.length > 2) {
        style += token;
      } else {
        cells.push(style + token);
        style = "";
      }
    }
    this.#style = style + this.#style;
    this.#plain = "";
    this.#cells = cells;
    return cells;
  }
}
