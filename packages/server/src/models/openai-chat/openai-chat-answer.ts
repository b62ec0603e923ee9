import { randomUUID } from "node:crypto";
import type { Answered } from "../answered.ts";
import type { AttemptPart } from "../attempt.ts";
import { blockedAnswer, cutAnswer, emptyAnswer } from "../failures.ts";
import { ToolCallDrafts, type ToolCallDelta } from "../tool-call-draft.ts";
import { noTokens, type TokenCounts } from "../usage.ts";

/** One chunk of a chat answer, or a whole one; every field may be missing. */
export type ChatChunk = {
  readonly id?: string | null;
  readonly model?: string | null;
  readonly choices?: readonly ChatChoice[] | null;
  readonly usage?: ChatUsage | null;
  readonly error?: unknown;
  /** vLLM and SGLang, where `return_token_ids` was asked for. */
  readonly prompt_token_ids?: readonly number[] | null;
};

type ChatChoice = {
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
};

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
export class ChatAnswer {
  readonly #calls = new ToolCallDrafts();
  readonly #text: string[] = [];
  readonly #reasoning: string[] = [];
  #id = "";
  #model = "";
  #finishReason: string | null = null;
  #usage: ChatUsage | null = null;
  #promptTokenIds: readonly number[] | null = null;
  readonly #responseTokenIds: number[] = [];

  get id(): string {
    return this.#id;
  }

  get tokens(): TokenCounts | null {
    return toTokens(this.#usage);
  }

  get isFinished(): boolean {
    return this.#finishReason !== null;
  }

  /** Adds a chunk and yields what to show of it. Throws when the chunk says that the answer failed. */
  *add(chunk: ChatChunk): Generator<AttemptPart> {
    if (chunk.error !== undefined && chunk.error !== null) throw providerError(chunk.error);
    this.#id ||= chunk.id ?? "";
    this.#model ||= chunk.model ?? "";
    this.#usage = chunk.usage ?? this.#usage;
    this.#promptTokenIds ??= chunk.prompt_token_ids ?? null;
    const choice = chunk.choices?.[0];
    if (choice === undefined) return;
    for (const id of choice.token_ids ?? []) this.#responseTokenIds.push(id);
    yield* this.#addDelta(choice.delta ?? choice.message ?? {});
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
  }

  /** The whole answer. `isEnded` says that the provider marked the end. Throws when it is cut, blocked or missing; saying nothing is an answer. */
  finish(isEnded: boolean): Answered {
    if (this.#finishReason === "error" || (!this.isFinished && !isEnded)) throw cutAnswer();
    if (this.#finishReason === "content_filter") throw blockedAnswer();
    const text = this.#text.join("");
    const reasoning = this.#reasoning.join("");
    if (!this.isFinished && text.trim() === "" && reasoning.trim() === "" && this.#calls.isEmpty) {
      throw emptyAnswer();
    }
    return {
      id: this.#id || `response_${randomUUID()}`,
      model: this.#model,
      message: {
        role: "assistant",
        content: text === "" ? [] : [{ type: "text", text }],
        toolCalls: this.#calls.finish(),
        reasoningContent: reasoning === "" ? null : reasoning,
        thinkingBlocks: [],
        reasoningItem: null,
      },
      isTruncated: this.#finishReason === "length",
      tokens: toTokens(this.#usage),
      billedCost: this.#usage?.cost ?? null,
      ...(this.#promptTokenIds === null
        ? {}
        : { tokenIds: { prompt: this.#promptTokenIds, response: this.#responseTokenIds } }),
    };
  }

  *#addDelta(delta: ChatDelta): Generator<AttemptPart> {
    const thought = delta.reasoning_content || delta.reasoning || thinkingOf(delta.content);
    if (typeof thought === "string" && thought !== "") {
      this.#reasoning.push(thought);
      yield { type: "reasoning", text: thought };
    }
    for (const text of [plainTextOf(delta.content), delta.refusal ?? ""]) {
      if (text === "") continue;
      this.#text.push(text);
      yield { type: "text", text };
    }
    for (const call of delta.tool_calls ?? []) yield { type: "tool-arguments", ...this.#calls.add(call) };
  }
}

/** An error inside a 200 answer gets the shape in which the SDK throws those with a status. */
function providerError(error: unknown): Error {
  return Object.assign(new Error("The provider reported an error inside its answer."), { error });
}

type ContentPart = { readonly type?: string; readonly text?: string; readonly thinking?: unknown };

/** Content is a string, or parts where a provider mixes text and thinking (Mistral). */
function plainTextOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as ContentPart[]).map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}

function thinkingOf(content: unknown): string {
  if (!Array.isArray(content)) return "";
  const thoughts = (content as ContentPart[]).filter((part) => part.type === "thinking");
  return thoughts
    .map(({ thinking }) => (typeof thinking === "string" ? thinking : plainTextOf(thinking)))
    .join("");
}

function toTokens(usage: ChatUsage | null): TokenCounts | null {
  if (usage === null) return null;
  const details = usage.prompt_tokens_details ?? {};
  return {
    ...noTokens,
    promptTokens: usage.prompt_tokens ?? 0,
    completionTokens: usage.completion_tokens ?? 0,
    cacheReadTokens:
      details["cached_tokens"] ?? usage.prompt_cache_hit_tokens ?? usage.cache_read_input_tokens ?? 0,
    cacheWriteTokens:
      details["cache_write_tokens"] ??
      details["cache_creation_tokens"] ??
      usage.cache_creation_input_tokens ??
      0,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
