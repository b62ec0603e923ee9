export type Listener = {
  readonly onSignal: (json: string) => void;
  /** Called when there will be no more, because the conversation was deleted. */
  readonly onEnd: () => void;
  /** Told about pieces of answers in the form that names their items. */
  readonly wantsItems: boolean;
  /** Told what tools say while they work: the newest text only, so that any of them may be dropped. */
  readonly onProgress: ((json: string) => void) | null;
  /** Called when how the conversation stands has changed without an event. */
  readonly onChange: () => void;
};

/** Ephemeral frames of one conversation (deltas, state snapshots): sent to whoever listens now, stored nowhere, droppable. */
export class Signals {
  readonly #listeners = new Set<Listener>();

  subscribe(given: Partial<Listener> & Pick<Listener, "onSignal">): () => void {
    const listener = { onEnd: () => {}, wantsItems: false, onProgress: null, onChange: () => {}, ...given };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  emit(json: string): void {
    for (const { onSignal } of this.#listeners) onSignal(json);
  }

  /** A piece of an answer: `plain` for everyone, null when they get nothing of it, `withItem` for those who asked for that. */
  emitDelta(plain: string | null, withItem: string): void {
    for (const { onSignal, wantsItems } of this.#listeners) {
      if (wantsItems) onSignal(withItem);
      else if (plain !== null) onSignal(plain);
    }
  }

  /** What a tool has said until now; `toJson` is called only when somebody listens. */
  emitProgress(toJson: () => string): void {
    let json: string | null = null;
    for (const { onProgress } of this.#listeners) onProgress?.((json ??= toJson()));
  }

  emitChange(): void {
    for (const { onChange } of this.#listeners) onChange();
  }

  end(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const { onEnd } of listeners) onEnd();
  }
}
