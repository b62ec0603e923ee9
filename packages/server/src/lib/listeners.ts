/** Functions that are called with each value, in the order in which they came. One may be there twice: each is its own. */
export class Listeners<Value> {
  readonly #listeners = new Set<(value: Value) => void>();

  /** Returns the unsubscribe function. */
  add(listener: (value: Value) => void): () => void {
    const own = (value: Value): void => listener(value);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  tell(value: Value): void {
    for (const listener of this.#listeners) listener(value);
  }
}
