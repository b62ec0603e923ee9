import type { CacheSnapshot } from "virtua";

/** How somebody who read a log left it. */
export type ScrollPosition = {
  /** Of the row that stood first; with another one the rest says nothing. */
  readonly firstRow: string;
  /** At the end, going along with what comes. */
  readonly isFollowing: boolean;
  /** How far it was scrolled, in pixels, and how high its rows were. */
  readonly offset: number;
  readonly sizes: CacheSnapshot;
  readonly openRows: ReadonlySet<string>;
  readonly openTurns: ReadonlyMap<string, boolean>;
};
