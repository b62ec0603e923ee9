/** Maximum characters of JSON of one cached view, and of all of them together. */
export const viewLimits = { one: 4_000_000, all: 16_000_000 } as const;

/** The view of a log that nothing works on at this moment. */
export type CachedView = {
  /** Of the JSON of its events; 0 when it is not in memory. */
  readonly viewCharacters: number;
  readonly forgetView: () => void;
};

/**
 * The views of conversations between two runs: the next run begins with what the last one had read. They are copies of what the logs
 * say, so any of them may go at any time; the longest unused goes first.
 *
 * Only for speed: B8.view50.start, B8.view2000.start
 */
export class ViewCache {
  readonly #limits: { readonly one: number; readonly all: number };
  /** The longest unused first. */
  readonly #views = new Set<CachedView>();

  constructor(limits: { readonly one: number; readonly all: number } = viewLimits) {
    this.#limits = limits;
  }

  /** Called when the work on it has ended. */
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

  /** Called when work on it begins, and when its conversation leaves memory: it counts no more. */
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
