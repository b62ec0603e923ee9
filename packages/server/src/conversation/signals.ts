/** Ephemeral frames of one conversation (deltas, state snapshots): sent to whoever listens now, stored nowhere, droppable. */
export class Signals {
  readonly #listeners = new Set<(json: string) => void>();

  subscribe(onSignal: (json: string) => void): () => void {
    this.#listeners.add(onSignal);
    return () => this.#listeners.delete(onSignal);
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  emit(json: string): void {
    for (const listener of this.#listeners) listener(json);
  }
}
