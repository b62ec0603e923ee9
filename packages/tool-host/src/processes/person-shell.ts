import type { Readable } from "node:stream";
import type { ShellInput } from "@convoke/protocol";
import type { TerminalSize } from "../terminal-attachment.ts";

/** Where a shell of a person begins, and how large its terminal is. */
export type ShellSpec = TerminalSize & {
  /** Absolute. */
  readonly workingDir: string;
};

export type { ShellInput };

/** A bash on a terminal, which no agent uses. Ends with its host, its connection or its disposal, and with it everything it started. */
export interface PersonShell extends AsyncDisposable {
  /** What programs print, as an xterm takes it; ends with the shell. They wait for whoever reads it. */
  readonly output: Readable;
  /** The exit code, 128 + n when signal n ended it; rejects when it could not be started or its host is lost. */
  readonly ended: Promise<number>;
  /** What is done at a shell that has ended is dropped; `ended` tells. */
  act(input: ShellInput): void;
}

/** Does what comes until there is no more; never rejects, inputs that break are a person who left. */
export async function obeyInputs(shell: PersonShell, inputs: AsyncIterable<ShellInput>): Promise<void> {
  try {
    for await (const input of inputs) shell.act(input);
  } catch {
    // Whoever sent them is told over their own connection, if there still is one.
  }
}

/** The size of a terminal within what terminals can be. */
export function withinSize({ columns, rows }: TerminalSize): TerminalSize {
  const within = (count: number, max: number): number => Math.min(Math.max(Math.trunc(count) || 1, 1), max);
  return { columns: within(columns, 1000), rows: within(rows, 500) };
}
