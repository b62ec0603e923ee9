import type { BrowserFrame, BrowserInput } from "@convoke/protocol";
import { attach, type AttachOptions } from "./attach.ts";
import type { SocketTarget } from "./connection.ts";

export type BrowserOptions = AttachOptions<BrowserInput>;

/** Attaches a person to the agent's browser, see {@link attach}. */
export function attachBrowser(
  target: SocketTarget,
  id: string,
  options: BrowserOptions,
): AsyncIterable<BrowserFrame> {
  const place = { path: `/sockets/browsers/${id}`, probe: `/api/conversations/${id}` };
  return attach<BrowserFrame, BrowserInput>(target, place, options);
}
