import { describeModel } from "../contract.ts";
import { openModel } from "../open-model.ts";

type Recorded = {
  messages: {
    tool_call_id?: string;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  }[];
};

describeModel(
  "openai chat",
  ({ url, apiKey, clock, attempts, timeoutSeconds }) =>
    openModel(
      {
        model: "openai/gpt-4.1",
        base_url: `${url}/v1`,
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
      (body as Recorded).messages.flatMap(({ tool_calls = [] }) =>
        tool_calls.map((call) => ({
          id: call.id,
          name: call.function.name,
          arguments: call.function.arguments,
        })),
      ),
    results: (body) => (body as Recorded).messages.flatMap((message) => message.tool_call_id ?? []),
    isTextReplayed: true,
    isTextAnswered: true,
    mayIgnoreStreaming: true,
    reportsCacheWrites: true,
    hasThinkingBlocks: false,
  },
);
