import type { CacheSnapshot } from "virtua";

/** The scroll position at which a log was left. */
export type ScrollPosition = {
  /** Id of the first row; if it has changed, the position no longer applies. */
  readonly firstRow: string;
  /** True if the view was at the end and followed new rows. */
  readonly isFollowing: boolean;
  /** Scroll offset in pixels, and the measured row heights. */
  readonly offset: number;
  readonly sizes: CacheSnapshot;
  readonly openRows: ReadonlySet<string>;
  readonly openTurns: ReadonlyMap<string, boolean>;
};
