import { Type, type Static } from "typebox";
import { flag, list, mapOf, object, orNull, ref } from "../schema.ts";
import { SecretSource, SecretSourceInput } from "../security/secret-source.ts";
import { Skill } from "./skill.ts";

const contextFields = {
  skills: list(ref(Skill)),
  system_message_suffix: orNull(Type.String()),
  user_message_suffix: orNull(Type.String()),
  load_user_skills: flag(false),
  load_public_skills: flag(false),
  /** Sent by newer clients, like `disabled_skills`, which is accepted as an unlisted field. */
  load_project_skills: Type.Optional(Type.Boolean()),
  current_datetime: orNull(Type.Union([Type.String({ format: "date-time" }), Type.String()])),
};

/** Additions to an agent's prompts: skills, suffixes, secrets it may name, the time. */
export const AgentContext = object("AgentContext-Output", {
  ...contextFields,
  secrets: orNull(mapOf(Type.Union([Type.String(), ref(SecretSource)]))),
});
export type AgentContext = Static<typeof AgentContext>;
export const AgentContextInput = object("AgentContext-Input", {
  ...contextFields,
  secrets: orNull(mapOf(Type.Union([Type.String(), ref(SecretSourceInput)]))),
});
export type AgentContextInput = Static<typeof AgentContextInput>;
