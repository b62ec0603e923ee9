import { contractLlm } from "../contract-bench.ts";
import { describeModel } from "../contract.ts";
import { openModel } from "../open-model.ts";

type Recorded = { input: { type: string; call_id: string; name: string; arguments: string }[] };

describeModel(
  "openai responses",
  (options) =>
    openModel(
      contractLlm(options, { model: "openai_responses/gpt-5", base_url: `${options.url}/v1` }),
      options,
    ),
  {
    replayedCalls: (body) =>
      (body as Recorded).input
        .filter((item) => item.type === "function_call")
        .map((call) => ({ id: call.call_id, name: call.name, arguments: call.arguments })),
    results: (body) =>
      (body as Recorded).input.flatMap((item) =>
        item.type === "function_call_output" ? [item.call_id] : [],
      ),
    isTextReplayed: true,
    isTextAnswered: true,
    mayIgnoreStreaming: true,
    reportsCacheWrites: false,
    hasThinkingBlocks: false,
  },
);
