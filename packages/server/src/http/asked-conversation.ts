import type { ConversationDirectory } from "../directory/conversation-directory.ts";
import type { Conversation } from "../engine/conversation.ts";
import { conversationMissing } from "../engine/refusals.ts";
import type { ConversationInfoSource } from "../engine/state/conversation-info.ts";
import { invalidField } from "../lib/fault.ts";
import { normalizeUuid } from "../lib/uuid7.ts";
import type { RouteReply } from "./route-reply.ts";
import type { RouteRequest } from "./route-request.ts";

type Asked = Pick<RouteRequest, "caller" | "params">;

/** The conversation that a path names, in the spelling of the store; fails for what is no UUID (422). */
export function conversationIdOf({ params }: Pick<RouteRequest, "params">): string {
  const id = normalizeUuid(params["conversation_id"]!);
  if (id === null) throw invalidField(["path", "conversation_id"], "This is not a UUID.", "uuid_parsing");
  return id;
}

/** Its id; as for the next two, a conversation that the caller does not have is missing (404). Never loads the actor. */
export async function findAsked(
  directory: Pick<ConversationDirectory, "exists">,
  request: Asked,
): Promise<string> {
  const id = conversationIdOf(request);
  if (!(await directory.exists(request.caller, id))) throw conversationMissing(id);
  return id;
}

/** What is known of it; never loads the actor. */
export async function describeAsked(
  directory: Pick<ConversationDirectory, "describe">,
  request: Asked,
): Promise<ConversationInfoSource> {
  const id = conversationIdOf(request);
  const described = await directory.describe(request.caller, id);
  if (described === null) throw conversationMissing(id);
  return described;
}

export async function openAsked(
  directory: Pick<ConversationDirectory, "open">,
  request: Asked,
): Promise<Conversation> {
  return await directory.open(request.caller, conversationIdOf(request));
}

/** A handler that does something to the conversation, and answers when it is done. */
export function onAsked<Request extends Asked>(
  directory: Pick<ConversationDirectory, "open">,
  act: (conversation: Conversation, request: Request) => Promise<unknown>,
): (request: Request) => Promise<RouteReply> {
  return async (request) => {
    await act(await openAsked(directory, request), request);
    return { json: { success: true } };
  };
}
