import { Type, type Static, type TSchema } from "typebox";
import { nullable, object, orAbsent, ref } from "../schema.ts";
import { LLM } from "./llm.ts";

/**
 * Some fields of a model, merged into the stored ones: no defaults are filled in, and null removes a field. The types are those of
 * {@link LLM}, so that an unusable value is rejected here and not at the next conversation.
 */
export const LLMChange = Type.Unsafe<Record<string, unknown>>(
  object("LLMChange", Object.fromEntries(Object.entries(LLM.properties).map(toChange))),
);

/** An agent's settings to change. */
export const AgentSettingsChange = Type.Unsafe<Record<string, unknown>>(
  object("AgentSettingsChange", { llm: orAbsent(ref(LLMChange)) }),
);
export type AgentSettingsChange = Static<typeof AgentSettingsChange>;

function toChange([name, schema]: [string, TSchema]): [string, TSchema] {
  const { default: _, impliedDefault: __, ...type } = schema as TSchema & Record<string, unknown>;
  return [name, Type.Optional(nullable(type as TSchema))];
}
