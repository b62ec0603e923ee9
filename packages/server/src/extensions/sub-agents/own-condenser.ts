import type { LLM, SubAgentCondenser, SubAgentInfo } from "@convoke/protocol";

/** Null: that of the conversation that the sub-agent works for. Words and a missing kind become an object with a kind. */
export function ownCondenser(given: SubAgentCondenser | string | null | undefined): SubAgentCondenser | null {
  if (given === null || given === undefined) return null;
  if (typeof given === "string") {
    return given === "none" ? { kind: "NoOpCondenser" } : { kind: "LLMSummarizingCondenser" };
  }
  if (Object.keys(given).length === 0) return null;
  const { condensers } = given;
  return {
    ...given,
    kind: given.kind ?? "LLMSummarizingCondenser",
    ...(condensers ? { condensers: condensers.flatMap((part) => ownCondenser(part) ?? []) } : {}),
  };
}

/** The condenser of a sub-agent as an agent has one: where it names no model it writes with the agent's. Null when it has none of its own. */
export function completeCondenser(given: SubAgentInfo["condenser"], llm: LLM): object | null {
  const own = ownCondenser(given);
  return own === null ? null : completePart(own, llm);
}

const numbers = [
  "max_size",
  "max_tokens",
  "keep_first",
  "hard_context_reset_max_retries",
  "hard_context_reset_context_scaling",
] as const satisfies readonly (keyof SubAgentCondenser)[];

function completePart(part: SubAgentCondenser, llm: LLM): object {
  const { kind, condensers, llm: ownLlm } = part;
  if (kind === "NoOpCondenser") return { kind };
  if (kind === "PipelineCondenser")
    return { kind, condensers: (condensers ?? []).map((inner) => completePart(inner, llm)) };
  const present = numbers.flatMap((name) => (typeof part[name] === "number" ? [[name, part[name]]] : []));
  return { ...Object.fromEntries(present), kind, llm: ownLlm ?? llm };
}
