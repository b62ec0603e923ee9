import { describeModel } from "../contract.ts";
import { openModel } from "../open-model.ts";

type Recorded = {
  messages: { content: { type: string; id: string; name: string; input: unknown; tool_use_id: string }[] }[];
};

describeModel(
  "anthropic",
  ({ url, apiKey, clock, attempts, timeoutSeconds }) =>
    openModel(
      {
        model: "anthropic/claude-sonnet-4-5",
        base_url: url,
        api_key: apiKey,
        num_retries: attempts,
        timeout: timeoutSeconds,
        retry_min_wait: 1,
        retry_max_wait: 2,
        retry_multiplier: 1,
      },
      { clock },
    ),
  {
    replayedCalls: (body) =>
      (body as Recorded).messages.flatMap(({ content }) =>
        content
          .filter((block) => block.type === "tool_use")
          .map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })),
      ),
    results: (body) =>
      (body as Recorded).messages.flatMap(({ content }) =>
        content.filter((block) => block.type === "tool_result").map((block) => block.tool_use_id),
      ),
    isTextReplayed: false,
    isTextAnswered: true,
    mayIgnoreStreaming: true,
    reportsCacheWrites: true,
    hasThinkingBlocks: true,
  },
);
