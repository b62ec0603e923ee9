import type { TerminalInput } from "@convoke/protocol";

export type { TerminalInput };

/** How large a terminal is, in characters. */
export type TerminalSize = { readonly columns: number; readonly rows: number };

/** What a person who is attached to a terminal sees. Texts are what an xterm takes, with secrets masked. */
export type TerminalUpdate =
  /** Everything anew: the terminal is cleared, gets this size, and `text` brings it to where it is. */
  | ({
      readonly type: "screen";
      readonly text: string;
      readonly isLent: boolean;
      readonly isYours: boolean;
    } & TerminalSize)
  | { readonly type: "output"; readonly text: string }
  | ({ readonly type: "size" } & TerminalSize)
  /** Whether a person has it, and whether that is this one. */
  | { readonly type: "lent"; readonly isLent: boolean; readonly isYours: boolean }
  /** What was asked for cannot be; where there is no such terminal, nothing follows. */
  | { readonly type: "refused"; readonly reason: string };

/** One who is attached: what to show, until `signal` aborts, the inputs end or the terminal does. Whoever has it gives it back by that. */
export type AttachTerminal = (
  inputs: AsyncIterable<TerminalInput>,
  signal: AbortSignal,
) => AsyncIterable<TerminalUpdate>;
