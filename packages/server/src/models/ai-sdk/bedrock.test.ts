import { contractLlm } from "../contract-bench.ts";
import { describeModel } from "../contract.ts";
import { openModel } from "../open-model.ts";

type Block = {
  toolUse?: { toolUseId: string; name: string; input: unknown };
  toolResult?: { toolUseId: string };
};
type Recorded = { messages: { content: Block[] }[] };

describeModel(
  "bedrock",
  (options) =>
    openModel(
      contractLlm(options, {
        model: "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        base_url: options.url,
      }),
      options,
    ),
  {
    replayedCalls: (body) =>
      (body as Recorded).messages.flatMap(({ content }) =>
        content.flatMap(({ toolUse: call }) =>
          call === undefined
            ? []
            : [{ id: call.toolUseId, name: call.name, arguments: JSON.stringify(call.input) }],
        ),
      ),
    results: (body) =>
      (body as Recorded).messages.flatMap(({ content }) =>
        content.flatMap((block) => block.toolResult?.toolUseId ?? []),
      ),
    isTextReplayed: false,
    isTextAnswered: true,
    mayIgnoreStreaming: false,
    isBinary: true,
    reportsCacheWrites: true,
    hasThinkingBlocks: true,
  },
);
