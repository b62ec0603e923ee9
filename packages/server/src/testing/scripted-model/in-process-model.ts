import type { AttemptContext } from "../../models/answer.ts";
import type { Answered } from "../../models/answered.ts";
import type { Attempt } from "../../models/attempt.ts";
import { systemModelClock, type ModelClock } from "../../models/clock.ts";
import { blockedAnswer, cutAnswer, emptyAnswer } from "../../models/failures.ts";
import { textOf } from "../../models/message-text.ts";
import type { Model, ModelRequest } from "../../models/model.ts";
import { createRetryingModel } from "../../models/retry.ts";
import { openaiWire } from "./openai-wire.ts";
import { ScriptPlayer, type Played, type RequestFacts } from "./script-player.ts";
import { parseScript, type Script } from "./script.ts";
import { defaultErrorMessage, splitText } from "./wire.ts";

export type InProcessOptions = {
  readonly vars?: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly contextWindow?: number;
  readonly isVisionEnabled?: boolean;
  /** Maximum attempts after transient failures, without waiting between them; 5 unless given. */
  readonly attempts?: number;
  readonly clock?: ModelClock;
};

export type ScriptedModel = Model & {
  /** Every request, including repeated ones, oldest first. */
  readonly requests: readonly ModelRequest[];
};

/** A model that answers from a script, without a network. Throws for an invalid script. */
export function createScriptedModel(source: Script | string, options: InProcessOptions = {}): ScriptedModel {
  const script = parseScript(source);
  const player = new ScriptPlayer(script, options.vars);
  const clock = options.clock ?? systemModelClock;
  const requests: ModelRequest[] = [];
  const name = options.name ?? `scripted/${script.model ?? "model"}`;
  const attempt: Attempt = async function* (request, context) {
    requests.push(request);
    const startMs = clock.nowMs();
    const played = player.play(factsOf(request));
    yield* perform(played, context, clock);
    const { tokens, billedCost, ...reply } = answeredOf(played, name);
    const usage = { ...tokens, contextWindow: options.contextWindow ?? 200_000, cost: billedCost };
    yield { type: "done", response: { ...reply, usage, latencyMs: Math.round(clock.nowMs() - startMs) } };
  };
  const model = createRetryingModel(
    { name, isVisionEnabled: options.isVisionEnabled ?? true, attempt },
    {
      clock,
      idleTimeoutMs: null,
      policy: { attempts: options.attempts ?? 5, multiplierMs: 0, minWaitMs: 0, maxWaitMs: 0 },
      failure: {
        model: name,
        host: "the scripted model",
        secrets: [],
        clock: { nowMs: () => clock.nowMs() },
      },
    },
  );
  return { ...model, requests };
}

function factsOf({ messages, tools }: ModelRequest): RequestFacts {
  const lastUser = messages.findLastIndex((message) => message.role === "user");
  const lastAssistant = messages.findLastIndex((message) => message.role === "assistant");
  const user = messages[lastUser];
  const isAssistant = (message: { role: string }): boolean => message.role === "assistant";
  return {
    assistantMessages: messages.filter(isAssistant).length,
    assistantMessagesSinceUser: messages.slice(lastUser + 1).filter(isAssistant).length,
    lastUserText: user?.role === "user" ? textOf(user, true) : "",
    lastToolOutput: messages
      .slice(lastAssistant + 1)
      .map((message) => (message.role === "tool" ? textOf(message, true) : ""))
      .join("\n")
      .trim(),
    toolNames: tools.map((tool) => tool.name),
    fingerprint: JSON.stringify(messages),
  };
}

/** Streams the turn, or throws the error that an adapter would throw for its faults. */
async function* perform(played: Played, context: AttemptContext, clock: ModelClock): ReturnType<Attempt> {
  const { turn, answer } = played;
  if (turn.delay_ms !== undefined) await clock.sleep(turn.delay_ms, context.signal);
  if (turn.hang === true) await untilAborted(context.signal);
  const error = turn.error ?? (turn.overflow === true ? openaiWire.overflow : undefined);
  if (error !== undefined) {
    const headers = new Headers(error.retry_after === undefined ? {} : { "retry-after": error.retry_after });
    const body = { message: defaultErrorMessage(error), type: error.type ?? "" };
    throw Object.assign(new Error(body.message), { status: error.status, headers, error: body });
  }
  if (turn.empty === true) throw emptyAnswer();
  const pause = async (): Promise<void> => {
    if (turn.chunk_delay_ms !== undefined) await clock.sleep(turn.chunk_delay_ms, context.signal);
  };
  for (const text of splitText(answer.reasoning, turn.chunk_size)) {
    yield { type: "reasoning", text };
    await pause();
  }
  for (const text of splitText(answer.text, turn.chunk_size)) {
    yield { type: "text", text };
    await pause();
  }
  for (const [index, call] of answer.toolCalls.entries()) {
    for (const text of splitText(call.arguments, turn.chunk_size)) {
      yield { type: "tool-arguments", index, name: call.name, text };
      await pause();
    }
  }
  if (turn.hang === "body") await untilAborted(context.signal);
  if (turn.cut_after_bytes !== undefined || turn.half_json === true) throw cutAnswer();
  if (turn.finish_reason === "content_filter") throw blockedAnswer();
}

async function untilAborted(signal: AbortSignal): Promise<never> {
  return await new Promise((_resolve, reject) => {
    const stop = (): void => reject(new DOMException("The request was aborted.", "AbortError"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function answeredOf(
  { answer, turn }: Played,
  model: string,
): Answered & { tokens: NonNullable<Answered["tokens"]> } {
  const isThought = answer.reasoning !== "";
  return {
    id: answer.id,
    model,
    message: {
      role: "assistant",
      content: answer.text === "" ? [] : [{ type: "text", text: answer.text }],
      toolCalls: answer.toolCalls.map((call) => ({ ...call, origin: "completion" })),
      reasoningContent: isThought ? answer.reasoning : null,
      thinkingBlocks: [
        ...(isThought && turn.signature !== undefined
          ? [{ type: "thinking" as const, thinking: answer.reasoning, signature: turn.signature }]
          : []),
        ...(turn.redacted_thinking === undefined
          ? []
          : [{ type: "redacted_thinking" as const, data: turn.redacted_thinking }]),
      ],
      reasoningItem: null,
    },
    isTruncated: turn.finish_reason === "length",
    tokens: {
      promptTokens: answer.usage.prompt_tokens,
      completionTokens: answer.usage.completion_tokens,
      cacheReadTokens: answer.usage.cache_read_tokens,
      cacheWriteTokens: answer.usage.cache_write_tokens,
      reasoningTokens: answer.usage.reasoning_tokens,
    },
    billedCost: answer.usage.cost ?? 0,
  };
}
