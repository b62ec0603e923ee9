import { atOwner, type AskedOwner } from "./at-owner.ts";
import type { SocketInput } from "./socket-input.ts";

type Sent = Extract<SocketInput, { type: "message" }>;

/** Stores a message and requests a run; resolves with the id of its event. */
export async function sendMessage(
  asked: AskedOwner,
  { message, sender, clientMessageId, responseSchema, whileRunning, unused }: Sent,
): Promise<string> {
  const here = async (): Promise<string> => {
    const conversation = await asked.directory.open(asked.caller, asked.conversationId);
    const sent = { message, wantsRun: true, sender, clientMessageId, responseSchema, whileRunning };
    const { eventId } = await conversation.send(sent);
    if (unused.length > 0) await conversation.writer.warnOfUnused(unused);
    return eventId;
  };
  const { role, content } = message;
  return await atOwner(asked, here, {
    path: "events",
    body: {
      role,
      content,
      run: true,
      sender,
      client_message_id: clientMessageId,
      response_schema: responseSchema,
      while_running: whileRunning,
      ...toFields(unused),
    },
    read: (headers) => headers.get("x-convoke-event-id") ?? "",
    usualCode: "message_refused",
  });
}

/** At the top level, where the other node reads them. */
function toFields(unused: readonly string[]): Record<string, true> {
  return Object.fromEntries(unused.filter((name) => name !== "run").map((name) => [name, true]));
}
