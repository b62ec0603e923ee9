import { describeQuota, type ReachedQuota } from "../settings/quota-reached.ts";
import type { Hold } from "../spending/hold-rows.ts";
import { NoPlaceError, type PlaceHolder } from "./wall-places.ts";

/** A wall that counts towards the quota of its user. */
export interface OwnedHolder extends PlaceHolder {
  readonly ownerId: string;
}

export type UserPlacesDeps = {
  /** Counts a wall of this user, or answers with the quota that is reached; null for a user without a limit. */
  readonly take: (userId: string) => Promise<Hold | ReachedQuota> | null;
  /** How long a wall waits for its user's quota, in milliseconds. */
  readonly waitMs: number;
};

/** The user's quota of running walls is reached, and stayed so. */
export class WallQuotaError extends NoPlaceError {
  readonly quota: ReachedQuota;

  constructor(quota: ReachedQuota) {
    super(describeQuota(quota));
    this.quota = quota;
  }
}

/** Other nodes do not tell when a wall of theirs has ended. */
const retryMs = 500;

/** Bounds how many walls each user has running: of this server's, the one that was not used for longest ends for another one. */
export class UserPlaces {
  readonly #deps: UserPlacesDeps;
  readonly #held = new Map<OwnedHolder, Hold>();
  #waiting = Promise.withResolvers<void>();

  constructor(deps: UserPlacesDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when the wall may run; null when it may at once, so that it waits for nothing. Rejects with {@link WallQuotaError} when the
   * user's others stayed busy.
   */
  take(holder: OwnedHolder): Promise<void> | null {
    const taking = this.#held.has(holder) ? null : this.#deps.take(holder.ownerId);
    return taking === null ? null : this.#untilTaken(holder, taking);
  }

  async #untilTaken(holder: OwnedHolder, first: Promise<Hold | ReachedQuota>): Promise<void> {
    const endMs = performance.now() + this.#deps.waitMs;
    let taking: Promise<Hold | ReachedQuota> | null = first;
    // Null: the user is not limited any more.
    for (; taking !== null; taking = this.#deps.take(holder.ownerId)) {
      const taken = await taking;
      if ("release" in taken) {
        this.#held.set(holder, taken);
        return;
      }
      if (performance.now() >= endMs) throw new WallQuotaError(taken);
      const unused = [...this.#held.keys()]
        .filter((one) => one.ownerId === holder.ownerId && !one.isBusy)
        .toSorted((a, b) => Number(a.isOpen) - Number(b.isOpen) || a.usedAtMs - b.usedAtMs)[0];
      if (unused === undefined) await this.#untilChanged();
      else {
        await unused.yield();
        this.release(unused);
      }
    }
  }

  /** To be called when the process of a wall has ended. */
  release(holder: OwnedHolder): void {
    this.#held.get(holder)?.release();
    this.#held.delete(holder);
    this.changed();
  }

  /** To be called when a wall stops being busy. */
  changed(): void {
    this.#waiting.resolve();
    this.#waiting = Promise.withResolvers();
  }

  async #untilChanged(): Promise<void> {
    const timer = setTimeout(() => this.changed(), retryMs);
    await this.#waiting.promise;
    clearTimeout(timer);
  }
}
