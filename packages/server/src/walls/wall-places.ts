/** A wall that may have to end for another one. */
export interface PlaceHolder {
  /** Something is executed, or a program or a person's shell runs inside: it must not end. */
  readonly isBusy: boolean;
  /** A session is open: what its commands left in the background ends with the wall. */
  readonly isOpen: boolean;
  /** When it was last used, as `performance.now` says it. */
  readonly usedAtMs: number;
  /** Ends its process until its next use. Must not reject. */
  yield(): Promise<void>;
}

export type WallPlacesDeps = {
  /** How many walls may run at one time. */
  readonly max: number;
  /** How long a wall waits for a place, in milliseconds. */
  readonly waitMs: number;
};

/** All places are taken by walls that are in use, and stayed so. */
export class NoPlaceError extends Error {
  override readonly name = "NoPlaceError";
}

type Waiting = { readonly holder: PlaceHolder; readonly take: () => void };

/** Bounds how many walls of a server run at one time: the one that was not used for longest ends for another one. */
export class WallPlaces {
  readonly #deps: WallPlacesDeps;
  readonly #held = new Set<PlaceHolder>();
  /** First come, first served. */
  readonly #waiting: Waiting[] = [];
  #isYielding = false;

  constructor(deps: WallPlacesDeps) {
    this.#deps = deps;
  }

  /** Resolves when the wall may run. Rejects with {@link NoPlaceError} when all others stayed busy; the caller does not try again by itself. */
  async take(holder: PlaceHolder): Promise<void> {
    if (this.#held.has(holder)) return;
    const { promise, resolve: take, reject } = Promise.withResolvers<void>();
    const waiting = { holder, take };
    this.#waiting.push(waiting);
    const { max, waitMs } = this.#deps;
    const timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      reject(
        new NoPlaceError(
          `All ${max} walls that this server may run at one time are busy (CONVOKE_MAX_WALLS). Nothing was started; try again when another conversation has finished.`,
        ),
      );
    }, waitMs).unref();
    this.changed();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Gives the place of a wall back whose process has ended. */
  release(holder: PlaceHolder): void {
    this.#held.delete(holder);
    this.changed();
  }

  /** To be called when a wall stops being busy. */
  changed(): void {
    while (this.#waiting.length > 0 && this.#held.size < this.#deps.max) {
      const next = this.#waiting.shift()!;
      this.#held.add(next.holder);
      next.take();
    }
    if (this.#waiting.length === 0 || this.#isYielding) return;
    const unused = [...this.#held]
      .filter(({ isBusy }) => !isBusy)
      .toSorted((a, b) => Number(a.isOpen) - Number(b.isOpen) || a.usedAtMs - b.usedAtMs)[0];
    if (unused === undefined) return;
    this.#isYielding = true;
    void unused.yield().then(() => {
      this.#isYielding = false;
      this.release(unused);
    });
  }
}
