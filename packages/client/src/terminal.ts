import type { TerminalFrame, TerminalInput } from "@convoke/protocol";
import { attach, type AttachOptions } from "./attach.ts";
import type { SocketTarget } from "./connection.ts";

export type TerminalOptions = AttachOptions<TerminalInput> & {
  /** The name of the terminal; `main` when not given. */
  readonly terminal?: string;
};

/** Attaches a person to a terminal of the agent, see {@link attach}. */
export function attachTerminal(
  target: SocketTarget,
  id: string,
  { terminal = "main", ...options }: TerminalOptions,
): AsyncIterable<TerminalFrame> {
  const place = {
    path: `/sockets/terminals/${id}`,
    query: { terminal },
    probe: `/api/conversations/${id}/terminals`,
  };
  return attach<TerminalFrame, TerminalInput>(target, place, options);
}
