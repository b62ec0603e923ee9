import type { Directory } from "../../../directory/directory.ts";
import type { ClientResult } from "../../../engine/client-calls.ts";
import { askNode, hereOrThere } from "../../../http/here-or-there.ts";
import type { Peers } from "../../../cluster/peers.ts";
import type { Caller } from "../../../security/caller.ts";
import { throwRefusal } from "./throw-refusal.ts";

type Given = {
  readonly directory: Pick<Directory, "open">;
  readonly peers?: Peers;
  readonly caller: Caller;
  readonly conversationId: string;
  readonly results: readonly ClientResult[];
};

/** Stores results of client tools, at the conversation's owner. */
export async function sendToolResults(given: Given): Promise<void> {
  const { directory, peers, caller, conversationId, results } = given;
  const here = async (): Promise<true> => {
    await (await directory.open(caller, conversationId)).receive(results);
    return true;
  };
  if (peers === undefined) return void (await here());
  // They are stored even when the socket closes.
  const { signal } = new AbortController();
  const there = async (nodeId: string): Promise<true | null> => {
    const wire = results.map(({ call, content, isError }) => ({
      tool_call_id: call,
      content,
      is_error: isError,
    }));
    const call = {
      method: "POST",
      path: `/api/conversations/${conversationId}/tool_results`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ results: wire }),
    };
    const response = await askNode(peers, nodeId, call, caller, signal);
    if (response === null) return null;
    if (!response.ok) await throwRefusal(response, "tool_results_refused");
    return true;
  };
  await hereOrThere(here, there, peers.ownerTimeoutMs, { signal });
}
