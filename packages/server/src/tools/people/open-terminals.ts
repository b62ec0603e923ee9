import type { TerminalInfo } from "@convoke/tool-host";
import type { Conversation } from "../../engine/conversation.ts";
import { orAfter } from "../../lib/or-after.ts";

type Session = Pick<Conversation, "session">;

/** How long a machine may take to list what runs in terminals. */
const listTimeoutMs = 2_000;

/** The terminals that are open, by name; none before something has needed the tools. */
export async function openTerminals({ session }: Session): Promise<readonly TerminalInfo[]> {
  return (await (await session.current())?.terminals()) ?? [];
}

/** True while a command runs in a terminal that ends with the actor. False for a machine that does not answer in time. */
export async function hasRunningTerminals({ session }: Session): Promise<boolean> {
  const opened = await session.current();
  if (opened === null) return false;
  const terminals = opened.terminals().catch(() => []);
  return (await orAfter(terminals, listTimeoutMs, [])).some(({ isKept }) => isKept);
}
