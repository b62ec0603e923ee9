/** Optional: without a callback its signals are dropped. */
export type Listener = {
  readonly onSignal?: (json: string) => void;
  /** Called when the conversation was deleted and no more signals follow. */
  readonly onEnd?: () => void;
  /** Receives deltas in the form that names their items. */
  readonly wantsItems?: boolean;
  /** Receives deltas instead of {@link onSignal}. */
  readonly onDelta?: ((json: string) => void) | null;
  /** Receives the output of running tools: only the latest text, so any of them may be dropped. */
  readonly onProgress?: ((json: string) => void) | null;
  /** Called when the live status has changed without an event. */
  readonly onChange?: () => void;
  /** Receives, instead of all that, the signals for sockets of other servers; none that came from another server. */
  readonly onForward?: (signal: ForwardedSignal) => void;
};

/** A signal that is forwarded to another server. */
export type ForwardedSignal =
  | { readonly type: "delta"; readonly plain: string | null; readonly withItem: string }
  | { readonly type: "progress"; readonly json: string };

/** Ephemeral frames of one conversation (deltas, state snapshots): sent to current subscribers, never stored, droppable. */
export class Signals {
  readonly #listeners = new Set<Listener>();

  /** Returns the unsubscribe function. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  emit(json: string): void {
    for (const listener of this.#listeners) listener.onSignal?.(json);
  }

  /** A delta of an answer: `plain` for everyone (null: nothing), `withItem` for subscribers that asked for items. */
  emitDelta(plain: string | null, withItem: string): void {
    this.#giveDelta(plain, withItem);
    for (const listener of this.#listeners) listener.onForward?.({ type: "delta", plain, withItem });
  }

  /** The output of a tool so far; `toJson` is called only when there are subscribers. */
  emitProgress(toJson: () => string): void {
    let json: string | null = null;
    for (const listener of this.#listeners) {
      listener.onProgress?.((json ??= toJson()));
      listener.onForward?.({ type: "progress", json: (json ??= toJson()) });
    }
  }

  /** A signal from another server; it is not forwarded again. */
  emitForwarded(signal: ForwardedSignal): void {
    if (signal.type === "delta") this.#giveDelta(signal.plain, signal.withItem);
    else for (const listener of this.#listeners) listener.onProgress?.(signal.json);
  }

  emitChange(): void {
    for (const listener of this.#listeners) listener.onChange?.();
  }

  end(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener.onEnd?.();
  }

  #giveDelta(plain: string | null, withItem: string): void {
    for (const listener of this.#listeners) {
      if (listener.onForward !== undefined) continue;
      const json = listener.wantsItems === true ? withItem : plain;
      if (json === null) continue;
      if (listener.onDelta) listener.onDelta(json);
      else listener.onSignal?.(json);
    }
  }
}
