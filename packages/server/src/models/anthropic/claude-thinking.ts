import type { ModelMessage, ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";

/** The thinking mode of a Claude model: adaptive, or with a token budget. */
export type ClaudeThinking =
  | { readonly type: "adaptive"; readonly display: "summarized" }
  | { readonly type: "enabled"; readonly budget_tokens: number };

const smallestThinkingBudget = 1024;

/** From 4.6 on models decide themselves how much to think; earlier ones, back to 3.7, want a number of tokens. Null: no thinking. */
export function thinkingFor(
  request: ModelRequest,
  settings: ModelSettings,
  maxTokens: number,
): ClaudeThinking | null {
  const version = claudeVersion(settings.route.model);
  if (version < 3.7 || settings.thinkingBudget < smallestThinkingBudget || !settings.facts.hasReasoning)
    return null;
  if (!canThink(request.messages)) return null;
  if (version >= 4.6) return { type: "adaptive", display: "summarized" };
  const budget = Math.min(settings.thinkingBudget, maxTokens - 1);
  return budget < smallestThinkingBudget ? null : { type: "enabled", budget_tokens: budget };
}

/** `claude-sonnet-4-5-20250929` is 4.5, `claude-3-7-sonnet` is 3.7; 0 for other makers' models. */
function claudeVersion(model: string): number {
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/iu.exec(model);
  return match === null ? 0 : Number(match[1]) + Number(match[2] ?? 0) / 10;
}

/** Thinking cannot begin in the middle of a tool loop: the API wants the thinking that led to the open calls. */
function canThink(messages: readonly ModelMessage[]): boolean {
  const last = messages.findLast((message) => message.role !== "tool");
  if (last?.role !== "assistant" || last.toolCalls.length === 0) return true;
  return last.thinkingBlocks.some((block) => "data" in block || Boolean(block.signature));
}
