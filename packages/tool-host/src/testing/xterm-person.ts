import xterm from "@xterm/headless";
import { expect } from "vitest";
import type { ToolSession } from "../host.ts";
import { InputQueue } from "./input-queue.ts";
import type { TerminalInput, TerminalSize, TerminalUpdate } from "../terminal-attachment.ts";

/** A person with a real xterm, attached to a terminal of a session. */
export class XtermPerson implements AsyncDisposable {
  readonly updates: TerminalUpdate[] = [];
  readonly #xterm = new xterm.Terminal({ allowProposedApi: true, cols: 80, rows: 24, scrollback: 1000 });
  readonly #leaving = new AbortController();
  readonly #inputs = new InputQueue<TerminalInput>();
  readonly #showing: Promise<void>;

  constructor(
    attach: (inputs: AsyncIterable<TerminalInput>, signal: AbortSignal) => AsyncIterable<TerminalUpdate>,
  ) {
    this.#xterm.onData((text) => this.do({ type: "type", text }));
    this.#showing = this.#show(attach(this.#inputs, this.#leaving.signal));
    this.#showing.catch(() => {});
  }

  static at(session: ToolSession, name = "main"): XtermPerson {
    return new XtermPerson((inputs, signal) => session.attach(name, inputs, signal));
  }

  do(input: TerminalInput): void {
    this.#inputs.push(input);
  }

  async take(size: TerminalSize = { columns: 80, rows: 24 }): Promise<void> {
    this.#xterm.resize(size.columns, size.rows);
    this.do({ type: "take", ...size });
    await this.until(() => this.isYours);
  }

  async give(): Promise<void> {
    this.do({ type: "give" });
    await this.until(() => !this.isYours);
  }

  /** Presses keys; `\r` is Enter. */
  press(keys: string): void {
    this.#xterm.input(keys);
  }

  /** Settles when the updates end. */
  get left(): Promise<void> {
    return this.#showing;
  }

  get isYours(): boolean {
    return this.updates.findLast((update) => "isYours" in update)?.isYours === true;
  }

  /** The text of the screen, one entry per line. */
  get screen(): string {
    const { active } = this.#xterm.buffer;
    const rows = Array.from({ length: this.#xterm.rows }, (_, row) =>
      active.getLine(active.baseY + row)?.translateToString(true),
    );
    return rows.join("\n").trimEnd();
  }

  /** All text received so far. */
  get received(): string {
    return this.updates.map((update) => ("text" in update ? update.text : "")).join("");
  }

  async until(isThere: () => boolean): Promise<void> {
    await expect.poll(isThere, { interval: 5, timeout: 60_000, message: this.screen }).toBe(true);
  }

  async sees(text: string | RegExp): Promise<void> {
    await expect.poll(() => this.screen, { interval: 5, timeout: 60_000 }).toMatch(text);
  }

  /** Disconnects without giving back control. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
    this.#inputs.end();
    // `left` reports why it ended.
    await this.#showing.catch(() => {});
    this.#xterm.dispose();
  }

  async #show(updates: AsyncIterable<TerminalUpdate>): Promise<void> {
    for await (const update of updates) {
      if (update.type === "screen") this.#xterm.resize(update.columns, update.rows);
      if ("text" in update) await new Promise<void>((resolve) => this.#xterm.write(update.text, resolve));
      this.updates.push(update);
    }
  }
}
