export type ProgressFeedDeps = {
  readonly onProgress: (text: string) => void;
  /** Returns the newest part of the shown output; called at most once per interval. */
  readonly read: () => string;
};

const intervalMs = 100;

/** Publishes live output, at most ten times a second and only when it changed. */
export class ProgressFeed implements Disposable {
  readonly #deps: ProgressFeedDeps;
  #timer: NodeJS.Timeout | undefined;
  #last = "";

  constructor(deps: ProgressFeedDeps) {
    this.#deps = deps;
  }

  /** Call this when there may be new output. */
  touch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const text = this.#deps.read();
      if (text === this.#last) return;
      this.#last = text;
      this.#deps.onProgress(text);
    }, intervalMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
