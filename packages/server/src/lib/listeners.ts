/**
 * Functions that are called with each value, in the order of their subscription. A function can be subscribed twice.
 */
export class Listeners<Value> {
  readonly #listeners = new Set<(value: Value) => void>();

  /** Returns the unsubscribe function. */
  add(listener: (value: Value) => void): () => void {
    const own = (value: Value): void => listener(value);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  emit(value: Value): void {
    for (const listener of this.#listeners) listener(value);
  }
}
