import { randomUUID } from "node:crypto";
import type { Answered } from "../answered.ts";
import type { AttemptPart } from "../attempt.ts";
import { isEndMark, isError, readEvent, reported } from "../error-event.ts";
import { blockedAnswer, cutAnswer, emptyAnswer, malformedCall } from "../failures.ts";
import { addFields, type Fields } from "../answer-fields.ts";
import { costIn, countIn, objectsIn, textIn } from "../answer-values.ts";
import { replayOf, type ReplayPlace } from "../provider-replay.ts";
import type { ServerSentEvent } from "../sse.ts";
import { ToolCallDrafts, type ToolCallDelta } from "../tool-call-draft.ts";
import { noTokens, type TokenCounts } from "../usage.ts";
import type { WireAnswer } from "../wire-attempt.ts";
import { plainTextOf, thinkingOf } from "./chat-content.ts";
import { toMessage, isBlank } from "../message-text.ts";

/** One chunk of a chat answer, or a whole one; every field may be missing. */
type ChatChunk = {
  readonly id?: string | null;
  readonly model?: string | null;
  readonly choices?: readonly ChatChoice[] | null;
  readonly usage?: ChatUsage | null;
  readonly error?: unknown;
  /** vLLM and SGLang, where `return_token_ids` was asked for. */
  readonly prompt_token_ids?: readonly number[] | null;
};

type ChatChoice = {
  readonly index?: number | null;
  readonly delta?: ChatDelta | null;
  readonly message?: ChatDelta | null;
  readonly finish_reason?: string | null;
  readonly token_ids?: readonly number[] | null;
};

type ChatDelta = {
  readonly content?: unknown;
  readonly refusal?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly tool_calls?: readonly ToolCallDelta[] | null;
  /** The oldest form of a call, of which an answer had one. */
  readonly function_call?: ToolCallDelta["function"];
};

/** What servers add to a message for themselves: sealed reasoning and signatures, which they want back. */
const replayedField =
  /^(?:reasoning_.+|thinking_blocks|extra_content|provider_specific_fields|.*signatures?|encrypted_.+)$/u;
const neutralFields = new Set(["reasoning_content", "reasoning_text"]);

type ChatUsage = {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: Readonly<Record<string, number | null>> | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
  readonly prompt_cache_hit_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  readonly cache_read_input_tokens?: number;
  /** US dollars, from gateways that bill. */
  readonly cost?: number | null;
};

/** Collects the chunks of one chat answer. */
export class ChatAnswer implements WireAnswer {
  readonly #calls = new ToolCallDrafts();
  readonly #text: string[] = [];
  readonly #reasoning: string[] = [];
  #id = "";
  #model = "";
  #finishReason: string | null = null;
  #isEnded = false;
  /** The choice that is read, where a request was answered with several. */
  #choice: number | null = null;
  #usage: ChatUsage | null = null;
  #promptTokenIds: readonly number[] | null = null;
  readonly #responseTokenIds: number[] = [];
  #fields: Fields = {};
  readonly #place: ReplayPlace;

  /** `place` is where the answer comes from: what the server keeps in it for itself goes back there only. */
  constructor(place: ReplayPlace) {
    this.#place = place;
  }

  get id(): string {
    return this.#id;
  }

  get tokens(): TokenCounts | null {
    return toTokens(this.#usage);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  addEvent(event: ServerSentEvent): Iterable<AttemptPart> {
    if (!isEndMark(event)) return this.#add(readEvent(event) as ChatChunk);
    this.#isEnded = true;
    return [];
  }

  /** Adds a whole answer, from servers that do not stream. */
  *addWhole(answer: ChatChunk): Generator<AttemptPart> {
    const choices = objectsIn<ChatChoice>(answer.choices).map(withNumberedCalls);
    yield* this.#add({ ...answer, choices });
    this.#isEnded = true;
  }

  /** Adds a chunk and yields what to show of it. Throws when the chunk says that the answer failed. */
  *#add(chunk: ChatChunk): Generator<AttemptPart> {
    if (isError(chunk.error)) throw reported(chunk.error);
    this.#id ||= textIn(chunk.id);
    this.#model ||= textIn(chunk.model);
    this.#usage = chunk.usage ?? this.#usage;
    this.#promptTokenIds ??= chunk.prompt_token_ids ?? null;
    const choice = objectsIn<ChatChoice>(chunk.choices).find(
      ({ index }) => (index ?? 0) === (this.#choice ?? index ?? 0),
    );
    if (choice === undefined) return;
    this.#choice ??= choice.index ?? 0;
    for (const id of choice.token_ids ?? []) this.#responseTokenIds.push(id);
    yield* this.#addDelta(choice.delta ?? this.#news(choice.message ?? {}));
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
  }

  /** The whole answer. Throws when it is cut, blocked or missing; saying nothing is an answer. */
  finish(): Answered {
    const isFinished = this.#finishReason !== null;
    if (this.#finishReason === "error" || (!isFinished && !this.#isEnded)) throw cutAnswer();
    if (this.#finishReason === "content_filter") throw blockedAnswer();
    const text = this.#text.join("");
    const thought = this.#reasoning.join("");
    if (!isFinished && isBlank(text) && isBlank(thought) && this.#calls.isEmpty) throw emptyAnswer();
    const { calls, fields } = this.#calls.finish();
    if (calls.length === 0 && !this.#calls.isEmpty && text.trim() === "") throw malformedCall();
    return {
      id: this.#id || `response_${randomUUID()}`,
      model: this.#model,
      message: { ...toMessage({ text, thought, toolCalls: calls }), ...this.#replay(calls, fields) },
      isTruncated: this.#finishReason === "length",
      tokens: toTokens(this.#usage),
      billedCost: costIn(this.#usage?.cost),
      tokenIds:
        this.#promptTokenIds === null
          ? undefined
          : { prompt: this.#promptTokenIds, response: this.#responseTokenIds },
    };
  }

  #replay(calls: readonly { readonly id: string }[], fields: readonly Fields[]): ReturnType<typeof replayOf> {
    if ([this.#fields, ...fields].every((one) => Object.keys(one).length === 0)) return {};
    return replayOf(this.#place, [
      { type: "message", fields: this.#fields },
      ...calls.map(({ id }, index) => ({ type: "call", call_id: id, fields: fields[index] })),
    ]);
  }

  /** A whole message after its chunks repeats their content. */
  #news(message: ChatDelta): ChatDelta {
    const isAgain = this.#text.length > 0 && this.#text.join("") === plainTextOf(message.content);
    const hasThought = this.#reasoning.length > 0;
    return {
      ...message,
      ...(isAgain ? { content: "" } : {}),
      ...(hasThought ? { reasoning_content: null, reasoning: null } : {}),
    };
  }

  *#addDelta(delta: ChatDelta): Generator<AttemptPart> {
    const thought = textIn(delta.reasoning_content || delta.reasoning) || thinkingOf(delta.content);
    if (thought !== "") {
      this.#reasoning.push(thought);
      yield { type: "reasoning", text: thought };
    }
    for (const text of [plainTextOf(delta.content), textIn(delta.refusal)]) {
      if (text === "") continue;
      this.#text.push(text);
      yield { type: "text", text };
    }
    for (const call of objectsIn<ToolCallDelta>(delta.tool_calls))
      yield { type: "tool-arguments", ...this.#calls.add(call) };
    const { function_call: only } = delta;
    if (only !== undefined && only !== null)
      yield { type: "tool-arguments", ...this.#calls.add({ index: 0, function: only }) };
    const replayed = Object.entries(delta).filter(
      ([name]) => replayedField.test(name) && !neutralFields.has(name),
    );
    if (replayed.length > 0) this.#fields = addFields(this.#fields, replayed);
  }
}

/** Each call of a whole message is one, whatever ids they have. */
function withNumberedCalls(choice: ChatChoice): ChatChoice {
  if (!Array.isArray(choice.message?.tool_calls)) return choice;
  const tool_calls = objectsIn<ToolCallDelta>(choice.message.tool_calls).map((call, index) => ({
    ...call,
    index,
  }));
  return { ...choice, message: { ...choice.message, tool_calls } };
}

function toTokens(usage: ChatUsage | null): TokenCounts | null {
  if (usage === null) return null;
  const details = usage.prompt_tokens_details ?? {};
  return {
    ...noTokens,
    promptTokens: countIn(usage.prompt_tokens),
    completionTokens: countIn(usage.completion_tokens),
    cacheReadTokens: countIn(
      details["cached_tokens"] ?? usage.prompt_cache_hit_tokens ?? usage.cache_read_input_tokens,
    ),
    cacheWriteTokens: countIn(
      details["cache_write_tokens"] ?? details["cache_creation_tokens"] ?? usage.cache_creation_input_tokens,
    ),
    reasoningTokens: countIn(usage.completion_tokens_details?.reasoning_tokens),
  };
}
