import type { AssistantMessage, Model, ModelPart, ModelRequest, ModelResponse } from "../../models/model.ts";
import type { Gates } from "./gates.ts";

/**
 * How one request is answered. `two`, `both` and `last` are several calls: of one tool, of two tools that may run concurrently, with
 * finish at the end.
 */
const answers = ["text", "one", "two", "both", "last", "finish", "failed"] as const;
type Ending = (typeof answers)[number] | "aborted";

/** A model that answers when and how the explorer decides. */
export function createGatedModel(gates: Gates, onRequest: (request: ModelRequest) => void): Model {
  let count = 0;
  return {
    name: "gated",
    isVisionEnabled: true,
    async *stream(request, signal): AsyncGenerator<ModelPart> {
      if (signal.aborted) {
        yield { type: "aborted" };
        return;
      }
      onRequest(request);
      count += 1;
      const number = count;
      // An abort can lose against an answer that is already on its way.
      const endings = (): readonly Ending[] => (signal.aborted ? ["aborted", "two"] : answers);
      yield toPart(await gates.wait<Ending>("model", endings), number, request);
    },
  };
}

function toPart(ending: Ending, number: number, request: ModelRequest): ModelPart {
  switch (ending) {
    case "aborted":
      return { type: "aborted" };
    case "failed":
      return {
        type: "failed",
        error: { code: "LLMBadRequestError", detail: "The provider said no.", isRetryable: false },
      };
    case "text":
      return respond(number, request, "done", []);
    case "one":
      return respond(number, request, "", ["terminal"]);
    case "two":
      return respond(number, request, "", ["terminal", "terminal"]);
    case "both":
      return respond(number, request, "", ["terminal", "file_editor"]);
    case "last":
      return respond(number, request, "", ["terminal", "finish"]);
    case "finish":
      return respond(number, request, "", ["finish"]);
  }
}

function respond(number: number, request: ModelRequest, text: string, tools: readonly string[]): ModelPart {
  // Ids differ between processes, like a provider's.
  const id = `${number}-${request.messages.length}`;
  const message: AssistantMessage = {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text, cache_prompt: false }],
    toolCalls: tools.map((name, index) => ({
      id: `call-${id}-${index}`,
      name,
      arguments: JSON.stringify(argumentsOf(name, `work ${id}-${index}`)),
      origin: "completion",
    })),
    reasoningContent: null,
    thinkingBlocks: [],
    reasoningItem: null,
  };
  const usage = {
    promptTokens: 1,
    completionTokens: 1,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    contextWindow: 1000,
    cost: 0,
  };
  const response: ModelResponse = { id, model: "gated", message, usage, latencyMs: 0, isTruncated: false };
  return { type: "done", response };
}

function argumentsOf(name: string, text: string): Record<string, string> {
  if (name === "finish") return { message: text };
  return name === "terminal" ? { command: text } : { command: "create", path: "/made", file_text: text };
}
