import type {
  AssistantMessage,
  Model,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelResponse,
} from "../models/model.ts";

export type WindowedModelOptions = {
  /** Requests with more tokens are refused as too long. */
  readonly windowTokens: number;
  /** Number of calls of `terminal` before it finishes. */
  readonly turns: number;
  /** Called with every request of the agent that fits. */
  readonly onRequest?: (request: ModelRequest) => void;
};

export type WindowedModel = Model & {
  /** Requests of the agent that were answered, those refused as too long, and requests for summaries. */
  readonly counts: { readonly answered: number; readonly refused: number; readonly summaries: number };
};

/** A model with a small window that works for a given number of turns, however much of them it still sees. */
export function createWindowedModel(options: WindowedModelOptions): WindowedModel {
  const counts = { answered: 0, refused: 0, summaries: 0 };
  const sizes = new WeakMap<ModelMessage, number>();
  const tokensOf = ({ messages, tools }: ModelRequest): number => {
    let characters = JSON.stringify(tools).length;
    for (const message of messages) {
      const size = sizes.get(message) ?? JSON.stringify(message).length;
      sizes.set(message, size);
      characters += size;
    }
    return Math.ceil(characters / 4.2);
  };
  return {
    name: "windowed",
    isVisionEnabled: false,
    counts,
    async *stream(request): AsyncGenerator<ModelPart> {
      const tokens = tokensOf(request);
      if (tokens > options.windowTokens) {
        counts.refused += 1;
        yield {
          type: "failed",
          error: {
            code: "LLMContextWindowExceedError",
            detail: "The request is too long.",
            isRetryable: false,
          },
        };
        return;
      }
      // A request without tools is one for a summary.
      if (request.tools.length === 0) {
        counts.summaries += 1;
        yield answer(`notes-${counts.summaries}`, `Summary ${counts.summaries} of the work.`, [], tokens);
        return;
      }
      options.onRequest?.(request);
      counts.answered += 1;
      const call =
        counts.answered > options.turns
          ? { name: "finish", arguments: { message: "done" } }
          : { name: "terminal", arguments: { command: `step ${counts.answered}` } };
      yield answer(`answer-${counts.answered}`, "", [call], tokens);
    },
  };
}

type Call = { readonly name: string; readonly arguments: Readonly<Record<string, string>> };

function answer(id: string, text: string, calls: readonly Call[], promptTokens: number): ModelPart {
  const message: AssistantMessage = {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text, cache_prompt: false }],
    toolCalls: calls.map((call) => ({
      id: `call-${id}`,
      name: call.name,
      arguments: JSON.stringify(call.arguments),
      origin: "completion",
    })),
    reasoningContent: null,
    thinkingBlocks: [],
    reasoningItem: null,
  };
  const response: ModelResponse = {
    id,
    model: "windowed",
    message,
    usage: {
      promptTokens,
      completionTokens: 20,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      contextWindow: 32_000,
      cost: 0,
    },
    latencyMs: 0,
    isTruncated: false,
  };
  return { type: "done", response };
}
