/** What the process says when it ends; documented in `convoke --help` and docs/guides/cli.md. */
export const exitCodes = {
  ok: 0,
  /** The run ended in an error, or the command failed. */
  failed: 1,
  /** Wrong flags or settings. */
  usage: 2,
  /** The agent repeated itself and was stopped. */
  stuck: 3,
  /** An action needed an approval that was refused or that nobody could give. */
  notApproved: 4,
  /** The run was paused or stopped from elsewhere. */
  paused: 5,
  /** No server answers at the address. */
  unreachable: 7,
  interrupted: 130,
} as const;

/** Ends the command with a plain sentence and a code. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}
