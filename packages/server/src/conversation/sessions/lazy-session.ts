import type { ToolSession } from "@convoke/tool-host";
import { wait } from "../../lib/wait.ts";
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

  /** The session if it can be opened within this time; null otherwise, and then the next use meets the reason. */
  async openWithin(ms: number): Promise<ToolSession | null> {
    if (this.#isClosed) throw conversationClosing();
    const isOver = new AbortController();
    // Who works with the tools is told why they are not there.
    const opened = this.open().catch(() => null);
    try {
      return await Promise.race([opened, wait(ms, isOver.signal).then(() => null)]);
    } finally {
      isOver.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    // What could not be opened is told to whoever asked for it, and there is nothing to close.
    const session = await this.#session?.catch(() => null);
    await session?.[Symbol.asyncDispose]();
  }
}
