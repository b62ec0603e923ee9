import type { McpServers } from "../extensions/mcp/mcp-status.ts";
import { conversationClosing } from "./refusals.ts";
import type { ToolBelt } from "./tool-belt.ts";
import { orAfter } from "../lib/or-after.ts";

/**
 * How long a message, and calls that a crash left open, wait for the tools; then they continue without them (P65).
 */
export const toolTimeoutMs = 5_000;

/** The tools of one conversation: opened once and reused; a failed opening is retried at the next use. */
export class LazySession implements AsyncDisposable {
  readonly #openNew: () => Promise<ToolBelt>;
  #session: Promise<ToolBelt> | null = null;
  /** MCP servers of the last session; null if it has none, or before the first session. */
  mcpServers: McpServers | null = null;
  #isClosed = false;

  constructor(openNew: () => Promise<ToolBelt>) {
    this.#openNew = openNew;
  }

  async open(): Promise<ToolBelt> {
    if (this.#isClosed) throw conversationClosing();
    this.#session ??= this.#openNew();
    const opening = this.#session;
    try {
      return await opening;
    } catch (error) {
      // Other tools may have been requested meanwhile.
      if (this.#session === opening) this.#session = null;
      throw error;
    }
  }

  /** The session if it is open; errors go to the caller that opened it. */
  async current(): Promise<ToolBelt | null> {
    return (await this.#session?.catch(() => null)) ?? null;
  }

  /** The session if it opens within this time, else null; then the next use gets the error. */
  async openWithin(ms: number): Promise<ToolBelt | null> {
    if (this.#isClosed) throw conversationClosing();
    // The next use of the tools gets the error.
    return await orAfter(
      this.open().catch(() => null),
      ms,
      null,
    );
  }

  /** Closes the tools so that the next use opens new ones; call while nothing uses them. */
  renew(): void {
    const old = this.#session;
    if (old === null || this.#isClosed) return;
    this.#session = closed(old).then(() => this.#openNew());
    // The next use throws the error.
    this.#session.catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#session !== null) await closed(this.#session);
  }
}

/** The opening has failed and was reported; there is nothing to close. */
async function closed(session: Promise<ToolBelt>): Promise<void> {
  const opened = await session.catch(() => null);
  await opened?.[Symbol.asyncDispose]();
}
