import type { Readable } from "node:stream";
import type { ShellInput } from "@convoke/protocol";
import type { TerminalSize } from "../terminal-attachment.ts";

/** Directory of a person's shell, and the size of its terminal. */
export type ShellSpec = TerminalSize & {
  /** Absolute path. */
  readonly workingDir: string;
};

export type { ShellInput };

/** A person's bash in a terminal; no agent uses it. Ends with its host, its connection or its disposal, with everything it started. */
export interface PersonShell extends AsyncDisposable {
  /** Terminal output for an xterm; ends with the shell. Programs block while nobody reads it. */
  readonly output: Readable;
  /** The exit code, or 128 + n after signal n. Rejects when the shell could not be started or its host is lost. */
  readonly ended: Promise<number>;
  /** Input for a shell that has ended is dropped; see `ended`. */
  act(input: ShellInput): void;
}

/** Applies inputs until they end. Never rejects: inputs that break mean that the person disconnected. */
export async function obeyInputs(shell: PersonShell, inputs: AsyncIterable<ShellInput>): Promise<void> {
  try {
    for await (const input of inputs) shell.act(input);
  } catch {
    // The sender learns it from its own connection.
  }
}

/** Clamps a terminal size to the valid range. */
export function withinSize({ columns, rows }: TerminalSize): TerminalSize {
  const within = (count: number, max: number): number => Math.min(Math.max(Math.trunc(count) || 1, 1), max);
  return { columns: within(columns, 1000), rows: within(rows, 500) };
}
