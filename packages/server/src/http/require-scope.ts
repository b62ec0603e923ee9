import { isInScope, type Route } from "@convoke/protocol";
import { conversationMissing } from "../engine/refusals.ts";
import { Fault } from "../lib/fault.ts";
import type { Caller } from "../security/caller.ts";
import { isOutsideScope, requireUnscoped } from "../security/key-scope.ts";

/**
 * Holds the key of one conversation to it: others do not exist for it, and routes that are not about a conversation are
 * refused. Lists are filtered by the directory. A share link may use few of its conversation's routes.
 */
export function requireScope(
  caller: Caller,
  route: Route,
  params: Readonly<Record<string, string | undefined>>,
): void {
  if (caller.onlyConversation === undefined) return;
  if (caller.share !== undefined && route.inShare !== true) throw shareRefused();
  if (!isInScope(route)) requireUnscoped(caller);
  for (const [name, id = ""] of Object.entries(params))
    if (name.endsWith("conversation_id") && isOutsideScope(caller, id)) throw conversationMissing(id);
}

function shareRefused(): Fault {
  return new Fault("refused", "share_refused", "A shared link only reads the conversation's log. Use a key.");
}
