import { Type, type Static } from "typebox";
import { Observation } from "../observations/observation.ts";
import { choice, ref } from "../schema.ts";
import { event } from "./event-fields.ts";

/** The result of a tool call. */
export const ObservationEvent = event("ObservationEvent", "environment", {
  tool_name: Type.String(),
  tool_call_id: Type.String(),
  observation: ref(Observation),
  action_id: Type.String({ description: "Id of the ActionEvent that this answers." }),
});
export type ObservationEvent = Static<typeof ObservationEvent>;

/** A tool call failed before or around the tool itself; the conversation continues. */
export const AgentErrorEvent = event("AgentErrorEvent", "agent", {
  tool_name: Type.String(),
  tool_call_id: Type.String(),
  error: Type.String(),
});
export type AgentErrorEvent = Static<typeof AgentErrorEvent>;

/** An action was turned down, by the user or by a hook, and did not run. */
export const UserRejectObservation = event("UserRejectObservation", "environment", {
  tool_name: Type.String(),
  tool_call_id: Type.String(),
  rejection_reason: Type.Optional(Type.String({ default: "User rejected the action" })),
  rejection_source: Type.Optional(choice(["user", "hook"], { default: "user" })),
  action_id: Type.String({ description: "Id of the ActionEvent that this answers." }),
});
export type UserRejectObservation = Static<typeof UserRejectObservation>;
