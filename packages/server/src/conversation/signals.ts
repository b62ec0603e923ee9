type Listener = { readonly onSignal: (json: string) => void; readonly onEnd: () => void };

/** Ephemeral frames of one conversation (deltas, state snapshots): sent to whoever listens now, stored nowhere, droppable. */
export class Signals {
  readonly #listeners = new Set<Listener>();

  /** `onEnd` is called when there will be no more, because the conversation left this process. */
  subscribe(onSignal: Listener["onSignal"], onEnd: Listener["onEnd"] = () => {}): () => void {
    const listener = { onSignal, onEnd };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  emit(json: string): void {
    for (const { onSignal } of this.#listeners) onSignal(json);
  }

  end(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const { onEnd } of listeners) onEnd();
  }
}
