import { Type, type Static } from "typebox";
import { choice, object, orNull, ref } from "../schema.ts";

/** Status of the agent loop, in the older terms of the stop route. */
export const ConversationStatus = choice(["STARTING", "RUNNING", "STOPPED"], { $id: "ConversationStatus" });
export type ConversationStatus = Static<typeof ConversationStatus>;

/** The answer to a stop; `conversation_status` is the status before it. */
export const ConversationResponse = object("ConversationResponse", {
  status: Type.String({ description: "`ok`, or `error` where the loop could not be stopped." }),
  conversation_id: Type.String(),
  message: orNull(Type.String()),
  conversation_status: orNull(ref(ConversationStatus)),
});
export type ConversationResponse = Static<typeof ConversationResponse>;
