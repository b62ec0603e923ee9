import { invalidField } from "../lib/fault.ts";
import { normalizeUuid } from "../lib/uuid7.ts";
import type { RouteRequest } from "./route-request.ts";

/** The conversation that a path names, in the spelling of the store; fails for what is no UUID (422). */
export function conversationIdOf(request: RouteRequest): string {
  const given = request.params["conversation_id"]!;
  const id = normalizeUuid(given);
  if (id === null) throw invalidField(["path", "conversation_id"], "This is not a UUID.", "uuid_parsing");
  return id;
}
