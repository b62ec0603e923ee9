import { Type, type Static } from "typebox";
import { nullable, object, ref } from "../schema.ts";

/** A model request that cannot be rebuilt from the log. */
export const ReplayCheckDifference = object("ReplayCheckDifference", {
  event_id: Type.String({ description: "The event that came of the request." }),
  position: Type.Integer({ minimum: 1, description: "Of the event in the log; the first one has 1." }),
  who: Type.Enum(["agent", "condenser"], { type: "string" }),
  recorded: Type.String({ description: "Digest of the messages, as it was stored with the request." }),
  rebuilt: Type.String({ description: "The same of the messages that the log leads to." }),
});

/** Whether all model requests can be rebuilt from the log of a conversation. */
export const ReplayCheck = object("ReplayCheck", {
  verified: Type.Integer({
    minimum: 0,
    description: "Requests whose record equals what was rebuilt, up to the first difference.",
  }),
  unrecorded: Type.Integer({ minimum: 0, description: "Answers of releases that recorded no requests." }),
  difference: nullable(ref(ReplayCheckDifference), { description: "The first one; null without any." }),
});
export type ReplayCheck = Static<typeof ReplayCheck>;
