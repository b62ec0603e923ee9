/** How long a found owner is cached, in milliseconds, before the store is asked again. */
const ttlMs = 2_000;
const maxKnown = 1_000;

/** A short-lived cache of the nodes that own conversations, so that consecutive commands ask the store once. */
export class KnownHolders {
  readonly #nowMs: () => number;
  readonly #known = new Map<string, { readonly nodeId: string; readonly untilMs: number }>();

  /** `nowMs` never goes back. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Null when it is not known, or not any more. */
  find(conversationId: string): string | null {
    const known = this.#known.get(conversationId);
    if (known === undefined || this.#nowMs() < known.untilMs) return known?.nodeId ?? null;
    this.#known.delete(conversationId);
    return null;
  }

  note(conversationId: string, nodeId: string): void {
    this.#known.delete(conversationId);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= maxKnown) this.#known.delete(oldest!);
    this.#known.set(conversationId, { nodeId, untilMs: this.#nowMs() + ttlMs });
  }

  forget(conversationId: string): void {
    this.#known.delete(conversationId);
  }
}
