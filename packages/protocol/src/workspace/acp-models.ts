import { Type, type Static } from "typebox";
import { anyObject, flag, list, object, orAbsent, orNull, ref } from "../schema.ts";

/** A model that another agent offers. */
export const ACPModelInfo = object("ACPModelInfo", {
  model_id: Type.String(),
  name: orAbsent(Type.String()),
  description: orAbsent(Type.String()),
});
export type ACPModelInfo = Static<typeof ACPModelInfo>;

/** The agent behind the Agent Client Protocol whose models are requested. */
export const ACPModelDiscoveryRequest = object("ACPModelDiscoveryRequest", {
  agent_settings: anyObject(),
  secrets: Type.Optional(anyObject()),
  refresh: flag(false),
});
export type ACPModelDiscoveryRequest = Static<typeof ACPModelDiscoveryRequest>;
export const ACPModelDiscoveryError = object("ACPModelDiscoveryError", {
  code: Type.String(),
  detail: Type.String(),
});
export const ACPModelDiscovery = object("ACPModelDiscovery", {
  agent_name: orNull(Type.String()),
  agent_version: orNull(Type.String()),
  current_model_id: orNull(Type.String()),
  available_models: list(ref(ACPModelInfo)),
  supports_runtime_model_switch: flag(false),
  error: orNull(ref(ACPModelDiscoveryError)),
});
export type ACPModelDiscovery = Static<typeof ACPModelDiscovery>;

/** Another model for the agent of a conversation. */
export const SwitchAcpModelRequest = object("SwitchAcpModelRequest", {
  model: Type.String({ minLength: 1 }),
});
export type SwitchAcpModelRequest = Static<typeof SwitchAcpModelRequest>;
