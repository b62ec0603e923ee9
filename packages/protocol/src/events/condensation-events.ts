import { Type, type Static } from "typebox";
import { list, orAbsent } from "../schema.ts";
import { event } from "./event-fields.ts";

/** Events were removed from the model's view, optionally replaced by a summary. */
export const Condensation = event("Condensation", "environment", {
  forgotten_event_ids: list(Type.String()),
  summary: orAbsent(Type.String()),
  summary_offset: orAbsent(Type.Integer({ minimum: 0 }), {
    description: "Where the summary goes in the shortened view; absent means it is not inserted.",
  }),
  llm_response_id: Type.String(),
});
export type Condensation = Static<typeof Condensation>;

/** A request for a condensation before the next model request. */
export const CondensationRequest = event("CondensationRequest", "environment", {});
export type CondensationRequest = Static<typeof CondensationRequest>;

/** A summary written by a condenser. */
export const CondensationSummaryEvent = event("CondensationSummaryEvent", "environment", {
  summary: Type.String(),
});
export type CondensationSummaryEvent = Static<typeof CondensationSummaryEvent>;
