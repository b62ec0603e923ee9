import type { Message, WhileRunning } from "@convoke/protocol";
import type { Directory } from "../../../directory/directory.ts";
import type { Caller } from "../../../security/caller.ts";
import { askNode, hereOrThere } from "../../../http/here-or-there.ts";
import type { Peers } from "../../../cluster/peers.ts";
import type { JsonObject } from "../../../lib/json-object.ts";
import { throwRefusal } from "./throw-refusal.ts";

type Sent = {
  readonly directory: Pick<Directory, "open">;
  readonly peers?: Peers;
  readonly caller: Caller;
  readonly conversationId: string;
  readonly message: Message;
  readonly sender: string | undefined;
  readonly clientMessageId: string | undefined;
  readonly responseSchema: JsonObject | undefined;
  readonly whileRunning: WhileRunning | null;
  /** Fields of the frame that change nothing. */
  readonly unused: readonly string[];
};

/** Stores a message and requests a run, at the conversation's owner; resolves with the id of its event. */
export async function sendMessage(sent: Sent): Promise<string> {
  const {
    directory,
    peers,
    caller,
    conversationId,
    message,
    sender,
    clientMessageId,
    responseSchema,
    whileRunning,
    unused,
  } = sent;
  const here = async (): Promise<string> => {
    const conversation = await directory.open(caller, conversationId);
    const { eventId } = await conversation.send({
      message,
      wantsRun: true,
      sender,
      clientMessageId,
      responseSchema,
      whileRunning,
    });
    if (unused.length > 0) await conversation.writer.warnOfUnused(unused);
    return eventId;
  };
  if (peers === undefined) return await here();
  // The message is stored even when the socket closes.
  const { signal } = new AbortController();
  const there = async (nodeId: string): Promise<string | null> => {
    const { role, content } = message;
    const body = {
      role,
      content,
      run: true,
      sender,
      client_message_id: clientMessageId,
      response_schema: responseSchema,
      while_running: whileRunning,
      ...toFields(unused),
    };
    const call = {
      method: "POST",
      path: `/api/conversations/${conversationId}/events`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const response = await askNode(peers, nodeId, call, caller, signal);
    return response === null ? null : await eventIdOf(response);
  };
  return await hereOrThere(here, there, peers.ownerTimeoutMs, { signal });
}

/** At the top level, where the other node reads them. */
function toFields(unused: readonly string[]): Record<string, true> {
  return Object.fromEntries(unused.filter((name) => name !== "run").map((name) => [name, true]));
}

async function eventIdOf(response: Response): Promise<string> {
  if (!response.ok) return await throwRefusal(response, "message_refused");
  await response.body?.cancel();
  return response.headers.get("x-convoke-event-id") ?? "";
}
