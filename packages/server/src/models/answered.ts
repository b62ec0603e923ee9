import type { AttemptPart } from "./attempt.ts";
import type { ModelResponse } from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";
import { receivedCalls } from "./received-calls.ts";
import { costOf, noTokens, type TokenCounts } from "./usage.ts";

/** What an adapter knows at the end of an answer; the model's name is empty when the provider does not tell. */
export type Answered = Omit<ModelResponse, "usage" | "latencyMs"> & {
  /** Null when the provider reported no usage. */
  readonly tokens: TokenCounts | null;
  /** US dollars, from gateways that bill. */
  readonly billedCost: number | null;
};

/** Books an answer: adds the window, the cost and the latency. A gateway's own bill wins over the price table. */
export function toResponse(answered: Answered, settings: ModelSettings, latencyMs: number): ModelResponse {
  const { tokens, billedCost, ...rest } = answered;
  const cost = billedCost ?? (tokens === null ? null : costOf(tokens, settings.price));
  const toolCalls = receivedCalls(rest.message.toolCalls);
  return {
    ...rest,
    message: { ...rest.message, toolCalls },
    model: rest.model || settings.route.model,
    usage: { ...(tokens ?? noTokens), contextWindow: settings.contextWindow, cost },
    // The clock may have been set back meanwhile.
    latencyMs: Math.max(0, Math.round(latencyMs)),
  };
}

/** What a failed answer has cost, as a part to give out before the failure; nothing where nobody counted. */
export function* spentOn(
  answer: { readonly id: string; readonly tokens: TokenCounts | null },
  settings: ModelSettings,
): Generator<AttemptPart> {
  const { id, tokens } = answer;
  if (tokens === null) return;
  const usage = { ...tokens, contextWindow: settings.contextWindow, cost: costOf(tokens, settings.price) };
  yield { type: "spent", attempt: { id, model: settings.route.model, usage } };
}
