/**
 * The forks and imports that this process is writing. No actor of it has them loaded, although it owns them: this tells them from the rest
 * of one that failed together with its removal, which the poll for lost runs removes.
 */
export class Copies {
  readonly #writers = new Map<string, number>();

  /** Counts, because a second request with the same id ends first. */
  begin(id: string): Disposable {
    this.#writers.set(id, (this.#writers.get(id) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        const left = this.#writers.get(id)! - 1;
        if (left === 0) this.#writers.delete(id);
        else this.#writers.set(id, left);
      },
    };
  }

  has(id: string): boolean {
    return this.#writers.has(id);
  }
}
