import type { LLM } from "@convoke/protocol";
import type { ModelFacts } from "./catalog.ts";

/** What `llm.capability_overrides` can correct. Other keys are returned as they were sent and have no effect. */
export type CapabilityOverrides = {
  readonly vision?: boolean;
  readonly reasoning?: boolean;
  readonly sampling?: boolean;
  readonly native_tool_calling?: boolean;
};

const spellings: Readonly<Record<keyof CapabilityOverrides, readonly string[]>> = {
  vision: ["vision", "supports_vision"],
  reasoning: ["reasoning", "reasoning_effort", "supports_reasoning", "supports_reasoning_effort"],
  sampling: ["sampling", "supports_sampling"],
  native_tool_calling: ["native_tool_calling", "function_calling", "supports_function_calling"],
};

/** Reads the overrides of an LLM object; a flag may be a boolean or the words true and false. */
export function readOverrides(llm: LLM): CapabilityOverrides {
  const { capability_overrides: given } = llm as { readonly capability_overrides?: unknown };
  if (typeof given !== "object" || given === null) return {};
  const values = given as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(spellings).flatMap(([name, keys]): [string, boolean][] => {
      const value = keys.map((key) => values[key]).find((one) => one !== undefined);
      if (value === true || value === "true") return [[name, true]];
      return value === false || value === "false" ? [[name, false]] : [];
    }),
  );
}

/** The facts of the catalogue with what the user knows better. */
export function withOverrides(facts: ModelFacts, overrides: CapabilityOverrides): ModelFacts {
  return {
    ...facts,
    hasVision: overrides.vision ?? facts.hasVision,
    hasReasoning: overrides.reasoning ?? facts.hasReasoning,
    acceptsSampling: overrides.sampling ?? facts.acceptsSampling,
  };
}
