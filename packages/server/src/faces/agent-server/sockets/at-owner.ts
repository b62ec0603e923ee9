import type { Directory } from "../../../directory/directory.ts";
import { askNode, hereOrThere } from "../../../http/here-or-there.ts";
import type { Peers } from "../../../cluster/peers.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Caller } from "../../../security/caller.ts";

/** The conversation that a socket works on. */
export type AskedOwner = {
  readonly directory: Pick<Directory, "open">;
  readonly peers?: Peers;
  readonly caller: Caller;
  readonly conversationId: string;
};

/** The request that does the same at another node. */
export type SameThere<Result> = {
  /** Below the conversation's path. */
  readonly path: string;
  readonly body: object;
  readonly read: (headers: Headers) => Result;
  /** Of a refusal that has no code. */
  readonly usualCode: string;
};

/** Does something at the conversation's owner, also when the socket closes meanwhile. */
export async function atOwner<Result>(
  { peers, caller, conversationId }: AskedOwner,
  here: () => Promise<Result>,
  { path, body, read, usualCode }: SameThere<Result>,
): Promise<Result> {
  if (peers === undefined) return await here();
  const { signal } = new AbortController();
  const call = {
    method: "POST",
    path: `/api/conversations/${conversationId}/${path}`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const there = async (nodeId: string): Promise<Result | null> => {
    const response = await askNode(peers, nodeId, call, caller, signal);
    if (response === null) return null;
    if (!response.ok) throw await refusalOf(response, usualCode);
    await response.body?.cancel();
    return read(response.headers);
  };
  return await hereOrThere(here, there, peers.ownerTimeoutMs, { signal });
}

/** The refusal of another node as a fault of this one. */
async function refusalOf(response: Response, usualCode: string): Promise<Fault> {
  const answer = (await response.json()) as { readonly detail?: unknown; readonly code?: string };
  const { detail, code = usualCode } = answer;
  return new Fault("not-now", code, typeof detail === "string" ? detail : JSON.stringify(detail));
}
