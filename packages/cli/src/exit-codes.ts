/** What the process says when it ends; docs/guides/cli.md has them too. */
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
  /** The answer is not valid by the schema that was given. */
  invalidAnswer: 6,
  /** No server answers at the address. */
  unreachable: 7,
  /** A limit of money, model calls or time ended the run. */
  limit: 8,
  interrupted: 130,
} as const;

/** What the help of all commands says of them. */
export const exitCodesHelp = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 agent stuck, 4 not approved,
5 paused, 6 answer not valid by its schema, 7 no server answers,
8 limit of money, model calls or time, 130 interrupted.`;

/** Ends the command with a plain sentence and a code. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}
