import { Type, type Static } from "typebox";
import { anyObject, choice, list, object, orAbsent } from "../schema.ts";

/** A sub-agent that comes with a conversation, in the form of newer clients; what is not carried out is refused by its field. */
export const AgentDefinition = object("AgentDefinition", {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  description: Type.Optional(Type.String({ default: "" })),
  model: Type.Optional(
    Type.String({ default: "inherit", description: "The name of a stored model profile, or `inherit`." }),
  ),
  color: orAbsent(Type.String()),
  tools: list(Type.String()),
  skills: list(Type.String()),
  system_prompt: Type.Optional(Type.String({ default: "" })),
  source: orAbsent(Type.String()),
  level: orAbsent(Type.String()),
  when_to_use_examples: list(Type.String()),
  hooks: orAbsent(anyObject()),
  permission_mode: orAbsent(choice(["always_confirm", "confirm_risky", "never_confirm"])),
  max_iteration_per_run: orAbsent(Type.Integer({ minimum: 1 })),
  max_budget_per_run: orAbsent(Type.Number({ exclusiveMinimum: 0 })),
  mcp_config: orAbsent(anyObject()),
  profile_store_dir: orAbsent(Type.String()),
  condenser: orAbsent(anyObject()),
  metadata: Type.Optional(anyObject({ impliedDefault: {} })),
});
export type AgentDefinition = Static<typeof AgentDefinition>;
