import type { Conversation } from "../../engine/conversation.ts";
import type { Usage } from "./completion.ts";

/** What all model calls of a conversation have taken. */
export function usageOf({ state }: Pick<Conversation, "state">): Usage {
  return sumOf(state.stats);
}

export function usageSince(conversation: Pick<Conversation, "state">, before: Usage): Usage {
  return difference(usageOf(conversation), before);
}

/** The sum of the statistics of a log, by usage id. */
export function sumOf(stats: Readonly<Record<string, unknown>>): Usage {
  let [prompt, completed] = [0, 0];
  for (const metrics of Object.values(stats)) {
    const tokens = (
      metrics as {
        accumulated_token_usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
      } | null
    )?.accumulated_token_usage;
    prompt += tokens?.prompt_tokens ?? 0;
    completed += tokens?.completion_tokens ?? 0;
  }
  return { prompt_tokens: prompt, completion_tokens: completed, total_tokens: prompt + completed };
}

export function difference(now: Usage, before: Usage): Usage {
  const [prompt, completed] = [
    now.prompt_tokens - before.prompt_tokens,
    now.completion_tokens - before.completion_tokens,
  ];
  return { prompt_tokens: prompt, completion_tokens: completed, total_tokens: prompt + completed };
}
