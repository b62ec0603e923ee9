import type { ModelPrice } from "./catalog.ts";
import type { ModelUsage } from "./model.ts";

/** Token counts of one call as a provider reported them. `promptTokens` counts everything sent, cached parts included. */
export type TokenCounts = Omit<ModelUsage, "contextWindow" | "cost">;

export const noTokens: TokenCounts = {
  promptTokens: 0,
  completionTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** US dollars for one call; null when no price is known. */
export function costOf(tokens: TokenCounts, price: ModelPrice | null): number | null {
  if (price === null) return null;
  const plain = Math.max(0, tokens.promptTokens - tokens.cacheReadTokens - tokens.cacheWriteTokens);
  return (
    plain * price.input +
    tokens.cacheReadTokens * price.cacheRead +
    tokens.cacheWriteTokens * price.cacheWrite +
    tokens.completionTokens * price.output
  );
}

/** The price for the ledger: configured prices win; a configured input price also covers cached tokens. */
export function priceWith(
  known: ModelPrice | null,
  configured: { readonly input: number | null; readonly output: number | null },
): ModelPrice | null {
  if (configured.input === null && configured.output === null) return known;
  const input = configured.input ?? known?.input ?? 0;
  return {
    input,
    output: configured.output ?? known?.output ?? 0,
    cacheRead: configured.input ?? known?.cacheRead ?? input,
    cacheWrite: configured.input ?? known?.cacheWrite ?? input,
  };
}
