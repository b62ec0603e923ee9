/** Why no wall works on a machine. */
export type NoWall = {
  /** One sentence. */
  readonly reason: string;
  /** What to do about it: sentences and commands. */
  readonly fix: string;
};

/** No wall can stand here, and none was switched off. */
export class NoWallError extends Error {
  override readonly name = "NoWallError";
  readonly why: NoWall;

  constructor(why: NoWall) {
    super(`No wall works here. ${why.reason} ${why.fix}`);
    this.why = why;
  }
}
