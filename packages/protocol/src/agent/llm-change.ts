import { Type, type Static, type TSchema } from "typebox";
import { nullable, object, orAbsent, ref } from "../schema.ts";
import { LLM } from "./llm.ts";

/**
 * Some fields of a model, to be laid over what is stored: nothing is filled in, and null removes. The types are those of
 * {@link LLM}, so that what could never be used is refused where it is given and not at the next conversation.
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
