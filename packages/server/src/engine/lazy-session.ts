import type { McpServers } from "../extensions/mcp/mcp-status.ts";
import { conversationClosing } from "./refusals.ts";
import type { ToolBelt } from "./tool-belt.ts";

/** How long a message, and calls that a crash left open, wait for the tools to open; then they continue without them (P65). */
export const toolTimeoutMs = 5_000;

/** The tools of one conversation: opened once and reused; a failed opening is tried again at the next use. */
export class LazySession implements AsyncDisposable {
  readonly #openNew: () => Promise<ToolBelt>;
  #session: Promise<ToolBelt> | null = null;
  /** MCP servers of the session that was opened last; null where it has none, and until something has needed the tools. */
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
      // Others may have been ordered meanwhile.
      if (this.#session === opening) this.#session = null;
      throw error;
    }
  }

  /** The session if it is open already; failures to open are reported to the caller that requested it. */
  async current(): Promise<ToolBelt | null> {
    return (await this.#session?.catch(() => null)) ?? null;
  }

  /** The session if it can be opened within this time; null otherwise, and then the next use meets the reason. */
  async openWithin(ms: number): Promise<ToolBelt | null> {
    if (this.#isClosed) throw conversationClosing();
    const { promise: isOver, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(() => resolve(null), ms);
    try {
      // The user of the tools gets the reason.
      return await Promise.race([this.open().catch(() => null), isOver]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Has the next use open other tools, once these are closed; to be called while nothing works with them. */
  renew(): void {
    const old = this.#session;
    if (old === null || this.#isClosed) return;
    this.#session = closed(old).then(() => this.#openNew());
    // The next use throws the reason.
    this.#session.catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#session !== null) await closed(this.#session);
  }
}

/** A failure to open was reported to the caller, and there is nothing to close. */
async function closed(session: Promise<ToolBelt>): Promise<void> {
  const opened = await session.catch(() => null);
  await opened?.[Symbol.asyncDispose]();
}
