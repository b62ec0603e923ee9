import type { ToolSession } from "@convoke/tool-host";
import { conversationClosing } from "../refusals.ts";

/** The tools of one conversation: opened once and reused; a failed opening is tried again at the next use. */
export class LazySession implements AsyncDisposable {
  readonly #openNew: () => Promise<ToolSession>;
  #session: Promise<ToolSession> | null = null;
  #isClosed = false;

  constructor(openNew: () => Promise<ToolSession>) {
    this.#openNew = openNew;
  }

  async open(): Promise<ToolSession> {
    if (this.#isClosed) throw conversationClosing();
    this.#session ??= this.#openNew();
    try {
      return await this.#session;
    } catch (error) {
      this.#session = null;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    // What could not be opened is told to whoever asked for it, and there is nothing to close.
    const session = await this.#session?.catch(() => null);
    await session?.[Symbol.asyncDispose]();
  }
}
