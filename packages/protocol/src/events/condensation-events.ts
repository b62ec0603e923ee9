import { Type, type Static } from "typebox";
import { list, orAbsent } from "../schema.ts";
import { event } from "./event-fields.ts";

/** Part of the history left the model's view, with an optional summary standing in for it. */
export const Condensation = event("Condensation", "environment", {
  forgotten_event_ids: list(Type.String()),
  summary: orAbsent(Type.String()),
  summary_offset: orAbsent(Type.Integer({ minimum: 0 }), {
    description: "Where the summary goes in the shortened view; absent means it is not inserted.",
  }),
  llm_response_id: Type.String(),
});
export type Condensation = Static<typeof Condensation>;

/** Someone asks for a condensation before the next model request. */
export const CondensationRequest = event("CondensationRequest", "environment", {});
export type CondensationRequest = Static<typeof CondensationRequest>;

/** A summary that a condenser wrote. */
export const CondensationSummaryEvent = event("CondensationSummaryEvent", "environment", {
  summary: Type.String(),
});
export type CondensationSummaryEvent = Static<typeof CondensationSummaryEvent>;
