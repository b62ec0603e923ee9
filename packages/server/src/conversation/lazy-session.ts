import type { ToolSession } from "@convoke/tool-host";

/** The tools of one conversation: opened once and reused; a failed opening is tried again at the next use. */
export class LazySession implements AsyncDisposable {
  readonly #openNew: () => Promise<ToolSession>;
  #session: Promise<ToolSession> | null = null;

  constructor(openNew: () => Promise<ToolSession>) {
    this.#openNew = openNew;
  }

  async open(): Promise<ToolSession> {
    this.#session ??= this.#openNew();
    try {
      return await this.#session;
    } catch (error) {
      this.#session = null;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#session !== null) await (await this.#session)[Symbol.asyncDispose]();
  }
}
