import { randomUUID } from "node:crypto";
import type { Answered } from "../answered.ts";
import { countIn, objectsIn, textIn } from "../answer-values.ts";
import type { AttemptPart } from "../attempt.ts";
import { isEndMark, isError, readEvent, reported } from "../error-event.ts";
import { blockedAnswer, cutAnswer, emptyAnswer } from "../failures.ts";
import { replayOf } from "../provider-replay.ts";
import type { ServerSentEvent } from "../sse.ts";
import { noTokens, type TokenCounts } from "../usage.ts";
import type { WireAnswer } from "../wire-attempt.ts";
import {
  textsOf,
  thoughtOf,
  toItem,
  toReasoningItem,
  toToolCall,
  withUniqueCallIds,
  type OutputItem,
} from "./output-items.ts";

/** One event of the responses wire, or a whole response; every field may be missing. */
type ResponsesEvent = {
  readonly type?: string;
  readonly output_index?: number;
  readonly summary_index?: number;
  readonly delta?: unknown;
  readonly item?: Readonly<Record<string, unknown>> | null;
  readonly response?: ResponseObject;
  readonly code?: string | null;
  readonly message?: string | null;
  readonly error?: unknown;
};

type ResponseObject = {
  readonly id?: string;
  readonly model?: string;
  readonly status?: string;
  readonly output?: unknown;
  readonly error?: { readonly code?: string; readonly message?: string } | null;
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly usage?: ResponsesUsage | null;
};

type ResponsesUsage = {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly input_tokens_details?: { readonly cached_tokens?: number } | null;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number } | null;
};

const replayedTypes = new Set(["reasoning", "message", "function_call"]);

/** Collects the events of one answer on the responses wire. */
export class ResponsesAnswer implements WireAnswer {
  readonly #items = new Map<number, OutputItem>();
  /** What was streamed of items that have not ended. */
  readonly #drafts = new Map<number, OutputItem>();
  readonly #names = new Map<number, string>();
  readonly #host: string;
  #response: ResponseObject = {};
  #isEnded = false;

  /** `host` is where the answer comes from: its sealed items go back there only. */
  constructor(host: string) {
    this.#host = host;
  }

  get id(): string {
    return textIn(this.#response.id);
  }

  get tokens(): TokenCounts | null {
    return toTokens(this.#response.usage ?? null);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  addEvent(event: ServerSentEvent): Iterable<AttemptPart> {
    return isEndMark(event) ? [] : this.#add(readEvent(event) as ResponsesEvent);
  }

  /** Adds an event and yields what to show of it. Throws when the event says that the answer failed. */
  *#add(event: ResponsesEvent): Generator<AttemptPart> {
    const at = event.output_index ?? 0;
    const text = textIn(event.delta);
    switch (event.type) {
      case "response.created":
      case "response.in_progress":
        this.#response = { ...this.#response, ...event.response };
        return;
      case "response.output_item.added":
        if (event.item?.["type"] === "function_call") {
          const item = toItem(event.item);
          const { name = "" } = item;
          this.#drafts.set(at, item);
          this.#names.set(at, name);
          yield { type: "tool-arguments", index: this.#callIndex(at), name, text: "" };
        }
        return;
      case "response.output_item.done":
        if (!event.item) return;
        this.#items.set(at, toItem(event.item));
        this.#drafts.delete(at);
        return;
      case "response.output_text.delta":
      case "response.refusal.delta":
        this.#draft(at, "message", text);
        yield { type: "text", text };
        return;
      case "response.reasoning_summary_part.added":
        if ((event.summary_index ?? 0) > 0) yield { type: "reasoning", text: "\n\n" };
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        yield { type: "reasoning", text };
        return;
      case "response.function_call_arguments.delta":
        this.#draft(at, "function_call", text);
        yield { type: "tool-arguments", index: this.#callIndex(at), name: this.#names.get(at) ?? "", text };
        return;
      case "response.incomplete":
        // Half a call is none; half a text is what the model said.
        for (const [key, { type }] of this.#drafts) if (type === "function_call") this.#drafts.delete(key);
        this.#end(event.response ?? {});
        return;
      case "response.completed":
      case "response.failed":
        this.#end(event.response ?? {});
        return;
      case "error":
        throw reported(event.error ?? { code: event.code, message: event.message });
      default:
    }
  }

  /** Adds a whole response, from servers that do not stream. */
  *addWhole(response: ResponseObject): Generator<AttemptPart> {
    this.#end(response);
    const { message } = this.finish();
    if (message.reasoningContent !== null) yield { type: "reasoning", text: message.reasoningContent };
    for (const part of message.content) yield { type: "text", text: part.text };
    for (const [index, call] of message.toolCalls.entries()) {
      yield { type: "tool-arguments", index, name: call.name, text: call.arguments };
    }
  }

  /** The whole answer. Throws when it is cut, blocked or missing; saying nothing is an answer. */
  finish(): Answered {
    const reason = this.#response.incomplete_details?.reason;
    if (!this.#isEnded) throw cutAnswer();
    if (reason === "content_filter") throw blockedAnswer();
    const items = this.#orderedItems();
    if (items.length === 0) throw emptyAnswer();
    const reasoning = items.filter((item) => item.type === "reasoning");
    const thought = reasoning
      .map(thoughtOf)
      .filter((text) => text !== "")
      .join("\n\n");
    return {
      id: this.id || `response_${randomUUID()}`,
      model: textIn(this.#response.model),
      message: {
        role: "assistant",
        content: items.flatMap(textsOf).map((text) => ({ type: "text", text })),
        toolCalls: items.flatMap(toToolCall),
        reasoningContent: thought === "" ? null : thought,
        thinkingBlocks: [],
        reasoningItem: toReasoningItem(reasoning.at(-1)),
        ...replayOf(
          { wire: "openai-responses", host: this.#host },
          items.filter((item) => replayedTypes.has(item.type ?? "")),
        ),
      },
      isTruncated: reason === "max_output_tokens",
      tokens: toTokens(this.#response.usage ?? null),
      billedCost: null,
    };
  }

  #end(response: ResponseObject): void {
    this.#response = { ...this.#response, ...response };
    if (isError(response.error)) throw reported(response.error);
    this.#isEnded = true;
  }

  /** Items as they were streamed, or as the end lists them if it has more: some servers stream no items, others list none. */
  #orderedItems(): OutputItem[] {
    const streamed = [...this.#drafts, ...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    const { output } = this.#response;
    const listed =
      typeof output === "string" ? [{ type: "message", content: output }] : objectsIn<object>(output);
    const whole = listed.map((item) => toItem({ ...item }));
    return withUniqueCallIds(whole.length > streamed.length ? whole : streamed);
  }

  /** Adds to an item that the server may never end. */
  #draft(at: number, type: "message" | "function_call", text: string): void {
    const draft = this.#drafts.get(at) ?? { type };
    const { arguments: before = "", content } = draft;
    const added =
      type === "function_call"
        ? { arguments: before + text }
        : { content: [{ type: "output_text", text: textIn(content?.[0]?.text) + text }] };
    if (!this.#items.has(at)) this.#drafts.set(at, { ...draft, ...added });
  }

  #callIndex(outputIndex: number): number {
    return [...this.#names.keys()].sort((a, b) => a - b).indexOf(outputIndex);
  }
}

function toTokens(usage: ResponsesUsage | null): TokenCounts | null {
  if (usage === null) return null;
  return {
    ...noTokens,
    promptTokens: countIn(usage.input_tokens),
    completionTokens: countIn(usage.output_tokens),
    cacheReadTokens: countIn(usage.input_tokens_details?.cached_tokens),
    reasoningTokens: countIn(usage.output_tokens_details?.reasoning_tokens),
  };
}
