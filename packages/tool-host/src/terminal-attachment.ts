import type { TerminalInput } from "@convoke/protocol";

export type { TerminalInput };

/** How large a terminal is, in characters. */
export type TerminalSize = { readonly columns: number; readonly rows: number };

/** Updates for a person who is attached to a terminal. Texts are for an xterm, with secrets masked. */
export type TerminalUpdate =
  /** A full redraw: clear the terminal, set this size, and write `text`. */
  | ({
      readonly type: "screen";
      readonly text: string;
      readonly isLent: boolean;
      readonly isYours: boolean;
    } & TerminalSize)
  | { readonly type: "output"; readonly text: string }
  | ({ readonly type: "size" } & TerminalSize)
  /** Whether a person has control, and whether it is this one. */
  | { readonly type: "lent"; readonly isLent: boolean; readonly isYours: boolean }
  /** A request was refused. For an unknown terminal no update follows. */
  | { readonly type: "refused"; readonly reason: string };

/** Yields updates for an attached person until `signal` aborts, the inputs end or the terminal does. Then control is given back. */
export type AttachTerminal = (
  inputs: AsyncIterable<TerminalInput>,
  signal: AbortSignal,
) => AsyncIterable<TerminalUpdate>;
