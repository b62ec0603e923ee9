import { contractLlm } from "../contract-bench.ts";
import { describeModel } from "../contract.ts";
import { openModel } from "../open-model.ts";

type Part = {
  functionCall?: { id: string; name: string; args: unknown };
  functionResponse?: { id: string };
};
type Recorded = { contents: { parts: Part[] }[] };

describeModel(
  "google",
  (options) =>
    openModel(
      contractLlm(options, { model: "gemini/gemini-2.5-pro", base_url: `${options.url}/v1beta` }),
      options,
    ),
  {
    replayedCalls: (body) =>
      (body as Recorded).contents.flatMap(({ parts }) =>
        parts.flatMap(({ functionCall: call }) =>
          call === undefined ? [] : [{ id: call.id, name: call.name, arguments: JSON.stringify(call.args) }],
        ),
      ),
    results: (body) =>
      (body as Recorded).contents.flatMap(({ parts }) =>
        parts.flatMap((part) => part.functionResponse?.id ?? []),
      ),
    isTextReplayed: false,
    isTextAnswered: false,
    mayIgnoreStreaming: false,
    reportsCacheWrites: false,
    hasThinkingBlocks: false,
  },
);
