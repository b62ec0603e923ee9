/** What all kinds of walls have in common once they were started. */
export type LaunchedWall = {
  /** Resolves when everything inside has ended. */
  readonly ended: Promise<void>;
  /** Ends everything inside; {@link LaunchedWall.ended} says when. */
  kill(): void;
  /** The id of its first process, which has the root of the wall; null where this server may not look into it. */
  firstProcess(): Promise<number | null>;
  /** The end of what it has printed. */
  readLog(maxBytes: number): Promise<string>;
};
