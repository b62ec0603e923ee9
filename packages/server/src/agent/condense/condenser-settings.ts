import type { Agent, Condenser, LLM } from "@convoke/protocol";
import { inputLimit } from "./token-meter.ts";

/** What keeps a conversation within its model's window. Names and defaults are those of the reference. */
export type CondenserSettings = {
  /** Of the model that writes summaries, without secrets; where it stood in the configuration. */
  readonly llm: LLM;
  readonly llmPath: string | null;
  /** The condenser's model is the agent's own; a key that it lacks is then the agent's. */
  readonly isSameRoute: boolean;
  /** Condense when the view has more events; null for no such limit. */
  readonly maxEvents: number | null;
  /** Tokens that a request of the agent may have. */
  readonly maxTokens: number;
  readonly keepFirst: number;
  /** Smallest share of the events that an ordinary condensation must forget to be worth it. */
  readonly minimumProgress: number;
  /** How often a summary is asked for at most when its own request is too long, and how the shown text shrinks each time. */
  readonly attempts: number;
  readonly scaling: number;
};

/** The name of the tokens of summaries in the ledger, unless the condenser's model has its own. */
const condenserUsageId = "condenser";

/**
 * Null when the agent wants its whole history. An agent without a condenser gets one that works at the limit of the window
 * alone, with the agent's own model.
 */
export function condenserSettings(agent: Agent): CondenserSettings | null {
  const condenser = agent.condenser ?? null;
  const limit = inputLimit(agent.llm);
  if (condenser === null) {
    return {
      llm: chargedApart(agent.llm, agent.llm),
      llmPath: null,
      isSameRoute: true,
      maxEvents: null,
      maxTokens: limit,
      ...usual,
    };
  }
  const found = findSummarizing(condenser, []);
  if (found === null) return null;
  const { condenser: chosen, path } = found;
  return {
    llm: chargedApart(chosen.llm, agent.llm),
    llmPath: [...path, "llm"].join("."),
    isSameRoute:
      chosen.llm.model === agent.llm.model && (chosen.llm.base_url ?? null) === (agent.llm.base_url ?? null),
    maxEvents: chosen.max_size ?? 240,
    maxTokens: Math.min(chosen.max_tokens ?? limit, limit),
    keepFirst: chosen.keep_first ?? usual.keepFirst,
    minimumProgress: usual.minimumProgress,
    attempts: chosen.hard_context_reset_max_retries ?? usual.attempts,
    scaling: chosen.hard_context_reset_context_scaling ?? usual.scaling,
  };
}

/** The model of the condenser with its secrets, which are stored apart by their paths. */
export function withCondenserSecrets(
  { llm, llmPath, isSameRoute }: CondenserSettings,
  secrets: {
    readonly llm: Partial<LLM>;
    readonly condenser?: Readonly<Record<string, unknown>>;
  },
): LLM {
  if (llmPath === null) return { ...llm, ...secrets.llm };
  const own = Object.entries(secrets.condenser ?? {}).flatMap(([path, value]) =>
    path.startsWith(`${llmPath}.`) ? [[path.slice(llmPath.length + 1), value] as const] : [],
  );
  if (own.length === 0 && isSameRoute) return { ...llm, ...secrets.llm };
  return { ...llm, ...Object.fromEntries(own) };
}

/** Where a condensation leaves room, as shares of the limit. */
export const shares = {
  /** Begin to summarise beside the run. */
  begin: 0.8,
  /** What the newest events may fill after it. */
  tail: 0.35,
  /** A summary is cut at this share. */
  summary: 0.15,
} as const;

/** True when events or tokens say that it is time; `tokens` are those of the next request. */
export function isDue(settings: CondenserSettings, events: number, tokens: number): boolean {
  return (
    tokens > settings.maxTokens * shares.begin || (settings.maxEvents !== null && events > settings.maxEvents)
  );
}

const usual = { keepFirst: 2, minimumProgress: 0.1, attempts: 5, scaling: 0.8 } as const;

type Summarizing = Extract<Condenser, { kind: "LLMSummarizingCondenser" }>;

/** A pipeline condenses with its first part that can. */
function findSummarizing(
  condenser: Condenser,
  path: readonly string[],
): { readonly condenser: Summarizing; readonly path: readonly string[] } | null {
  if (condenser.kind === "LLMSummarizingCondenser") return { condenser, path };
  if (condenser.kind !== "PipelineCondenser") return null;
  for (const [index, part] of condenser.condensers.entries()) {
    const found = findSummarizing(part, [...path, "condensers", String(index)]);
    if (found !== null) return found;
  }
  return null;
}

/** Never streamed, and never recorded under the agent's own name: spending on summaries must be visible (P48). */
function chargedApart(llm: LLM, agentLlm: LLM): LLM {
  const own = llm.usage_id ?? "default";
  const isAgents = own === (agentLlm.usage_id ?? "default");
  return { ...llm, stream: false, usage_id: isAgents ? condenserUsageId : own };
}
