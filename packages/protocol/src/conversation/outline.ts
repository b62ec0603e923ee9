import { Type, type Static } from "typebox";
import { nullable, object, orNull, ref } from "../schema.ts";

/** A message of the user and what followed until the next one. */
export const Turn = object("Turn", {
  event_id: Type.String({ description: "The message that it begins with." }),
  at: Type.String({ format: "date-time" }),
  text: Type.String({ description: "The first 200 characters of the message, on one line." }),
  last_event_id: Type.String(),
  duration_ms: Type.Integer({ description: "From the message to the last event." }),
  answer: nullable(Type.String(), { description: "The same of the agent's last message in it." }),
  actions: Type.Integer(),
  failed: Type.Integer({ description: "Calls that ended with an error of the agent's machinery." }),
  rejected: Type.Integer(),
  errors: Type.Integer({ description: "Runs that failed." }),
  condensations: Type.Integer(),
});
export type Turn = Static<typeof Turn>;

export const OutlinePage = object("OutlinePage", {
  items: Type.Array(ref(Turn)),
  next_page_id: orNull(Type.String()),
});
export type OutlinePage = Static<typeof OutlinePage>;
