import xterm from "@xterm/headless";
import { terminalSize } from "./terminal-size.ts";

/** Maximum characters waiting to be drawn; beyond it the program floods the screen, and further output is dropped. */
const maxPendingCharacters = 1_000_000;

/** The screen of a full-screen program. Replies to the program's queries go to `onReply`. */
export class ScreenView implements Disposable {
  readonly #terminal: xterm.Terminal;
  #pendingCharacters = 0;

  constructor(onReply: (bytes: string) => void) {
    this.#terminal = new xterm.Terminal({
      allowProposedApi: true,
      cols: terminalSize.columns,
      rows: terminalSize.rows,
      scrollback: 0,
    });
    this.#terminal.onData(onReply);
  }

  write(text: string): void {
    if (this.#pendingCharacters > maxPendingCharacters) return;
    this.#pendingCharacters += text.length;
    this.#terminal.write(text, () => {
      this.#pendingCharacters -= text.length;
    });
  }

  /** The text of the screen, without trailing blanks and surrounding empty rows. */
  async read(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#terminal.write("", resolve);
    });
    const buffer = this.#terminal.buffer.active;
    const rows: string[] = [];
    for (let row = 0; row < terminalSize.rows; row += 1) {
      const line = buffer.getLine(buffer.viewportY + row);
      const text = line?.translateToString(true) ?? "";
      if (line?.isWrapped === true && rows.length > 0) rows.push(`${rows.pop() ?? ""}${text}`);
      else rows.push(text.trimEnd());
    }
    return rows.join("\n").replace(/^\n+/, "").trimEnd();
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose();
  }
}
