/** Who waits for news of which conversation. A ring carries no data beyond a hint: what is new is read from the log. */
export class Doorbell {
  readonly #listeners = new Map<string, Set<(lastSeq: number) => void>>();

  /** The conversations somebody listens to. */
  get conversationIds(): string[] {
    return [...this.#listeners.keys()];
  }

  has(conversationId: string): boolean {
    return this.#listeners.has(conversationId);
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0;
  }

  /** Returns the unsubscribe function, which may be called more than once. */
  listen(conversationId: string, onRing: (lastSeq: number) => void): () => void {
    let listeners = this.#listeners.get(conversationId);
    if (listeners === undefined) this.#listeners.set(conversationId, (listeners = new Set()));
    // One function may listen twice; each subscription is its own.
    const listener = (lastSeq: number): void => onRing(lastSeq);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(conversationId) === listeners) {
        this.#listeners.delete(conversationId);
      }
    };
  }

  ring(conversationId: string, lastSeq: number): void {
    for (const listener of this.#listeners.get(conversationId) ?? []) listener(lastSeq);
  }
}
