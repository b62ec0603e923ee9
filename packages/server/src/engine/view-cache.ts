/** Maximum characters of JSON of one cached view, and of all of them together. */
export const viewLimits = { one: 4_000_000, all: 16_000_000 } as const;

/** The view of an idle log. */
export type CachedView = {
  /** JSON length of its events; 0 if it is not cached. */
  readonly viewCharacters: number;
  readonly forgetView: () => void;
};

/**
 * The views of conversations between two runs: the next run starts from what the last one had read. They are copies
 * of logs, so any may be evicted; least recently used first. Only for speed: B8.view50.start, B8.view2000.start
 */
export class ViewCache {
  readonly #limits: { readonly one: number; readonly all: number };
  /** Least recently used first. */
  readonly #views = new Set<CachedView>();

  constructor(limits: { readonly one: number; readonly all: number } = viewLimits) {
    this.#limits = limits;
  }

  /** Called when a run on it has ended. */
  keep(view: CachedView): void {
    this.#views.delete(view);
    if (view.viewCharacters > this.#limits.one) view.forgetView();
    else this.#views.add(view);
    let characters = 0;
    // A view may have grown meanwhile.
    for (const one of this.#views) characters += one.viewCharacters;
    for (const oldest of this.#views) {
      if (characters <= this.#limits.all) break;
      characters -= oldest.viewCharacters;
      this.#forget(oldest);
    }
  }

  /** Called when a run starts, and when its conversation is evicted: it no longer counts. */
  take(view: CachedView): void {
    this.#views.delete(view);
  }

  clear(): void {
    for (const view of this.#views) this.#forget(view);
  }

  #forget(view: CachedView): void {
    this.#views.delete(view);
    view.forgetView();
  }
}
