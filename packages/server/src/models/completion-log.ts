import type { ModelClock } from "./clock.ts";
import { hideSecrets } from "./hide-secrets.ts";
import type { CompletionLog, Model, ModelError, ModelRequest, ModelResponse } from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";
import { toPlainMessage } from "./plain-message.ts";

type LogDeps = {
  readonly settings: ModelSettings;
  readonly clock: ModelClock;
  readonly secrets: readonly string[];
};

/** A model that hands out a record of each call before its last part. Sealed reasoning and keys are in no record. */
export function createLoggedModel(model: Model, deps: LogDeps): Model {
  return {
    ...model,
    stream: async function* (request, signal) {
      const startMs = deps.clock.nowMs();
      for await (const part of model.stream(request, signal)) {
        if (part.type === "done") yield { type: "log", log: toLog(request, part.response, startMs, deps) };
        if (part.type === "failed")
          yield { type: "log", log: toErrorLog(request, part.error, startMs, deps) };
        yield part;
      }
    },
  };
}

function toLog(
  request: ModelRequest,
  response: ModelResponse,
  startMs: number,
  deps: LogDeps,
): CompletionLog {
  const { message, usage } = response;
  const tokens = {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    reasoning_tokens: usage.reasoningTokens,
    cache_read_tokens: usage.cacheReadTokens,
  };
  return record(request, startMs, deps, false, {
    response: {
      id: response.id,
      model: response.model,
      content: message.content.map((part) => part.text).join(""),
      reasoning_content: message.reasoningContent,
      tool_calls: message.toolCalls.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })),
      is_truncated: response.isTruncated,
    },
    cost: usage.cost ?? 0,
    usage_summary: tokens,
  });
}

function toErrorLog(request: ModelRequest, error: ModelError, startMs: number, deps: LogDeps): CompletionLog {
  return record(request, startMs, deps, true, {
    error: { type: error.code, message: error.detail },
    cost: 0,
  });
}

function record(
  request: ModelRequest,
  startMs: number,
  { settings, clock, secrets }: LogDeps,
  isError: boolean,
  outcome: Readonly<Record<string, unknown>>,
): CompletionLog {
  const nowMs = clock.nowMs();
  const data = {
    context_window: settings.contextWindow,
    llm_path: settings.route.wire === "openai-responses" ? "responses" : "chat",
    messages: request.messages.map(toPlainMessage),
    tools: request.tools,
    ...outcome,
    timestamp: nowMs / 1000,
    latency_sec: (nowMs - startMs) / 1000,
  };
  const clean = JSON.parse(
    hideSecrets(
      JSON.stringify(data),
      secrets.filter((secret) => secret !== ""),
    ),
  ) as typeof data;
  return { model: settings.name, usageId: settings.usageId, isError, atMs: nowMs, data: clean };
}
