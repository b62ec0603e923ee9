import { randomUUID } from "node:crypto";
import type { ReasoningItemModel } from "@convoke/protocol";
import type { Answered } from "../answered.ts";
import type { AttemptPart } from "../attempt.ts";
import { isEndMark, readEvent, reported } from "../error-event.ts";
import { blockedAnswer, cutAnswer, emptyAnswer } from "../failures.ts";
import { replayOf } from "../provider-replay.ts";
import type { ServerSentEvent } from "../sse.ts";
import { noTokens, type TokenCounts } from "../usage.ts";
import type { WireAnswer } from "../wire-attempt.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";

/** One event of the responses wire, or a whole response; every field may be missing. */
type ResponsesEvent = {
  readonly type?: string;
  readonly output_index?: number;
  readonly summary_index?: number;
  readonly delta?: string;
  readonly item?: OutputItem;
  readonly response?: ResponseObject;
  readonly code?: string | null;
  readonly message?: string | null;
  readonly error?: unknown;
};

type ResponseObject = {
  readonly id?: string;
  readonly model?: string;
  readonly status?: string;
  readonly output?: readonly OutputItem[];
  readonly error?: { readonly code?: string; readonly message?: string } | null;
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly usage?: ResponsesUsage | null;
};

type TextPart = { readonly type?: string; readonly text?: string; readonly refusal?: string };

type OutputItem = {
  readonly type?: string;
  readonly id?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly content?: readonly TextPart[] | null;
  readonly summary?: readonly TextPart[];
  readonly encrypted_content?: string | null;
  readonly status?: string;
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
  readonly #names = new Map<number, string>();
  readonly #host: string;
  #response: ResponseObject = {};
  #isEnded = false;

  /** `host` is where the answer comes from: its sealed items go back there only. */
  constructor(host: string) {
    this.#host = host;
  }

  get id(): string {
    return this.#response.id ?? "";
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
    const text = event.delta ?? "";
    switch (event.type) {
      case "response.created":
      case "response.in_progress":
        this.#response = { ...this.#response, ...event.response };
        return;
      case "response.output_item.added":
        if (event.item?.type === "function_call") {
          this.#names.set(at, event.item.name ?? "");
          yield { type: "tool-arguments", index: this.#callIndex(at), name: event.item.name ?? "", text: "" };
        }
        return;
      case "response.output_item.done":
        if (event.item !== undefined) this.#items.set(at, event.item);
        return;
      case "response.output_text.delta":
      case "response.refusal.delta":
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
        yield { type: "tool-arguments", index: this.#callIndex(at), name: this.#names.get(at) ?? "", text };
        return;
      case "response.completed":
      case "response.incomplete":
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
    for (const [index, item] of (response.output ?? []).entries()) this.#items.set(index, item);
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
      id: this.#response.id || `response_${randomUUID()}`,
      model: this.#response.model ?? "",
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
    if (response.error) throw reported(response.error);
    this.#isEnded = true;
  }

  #orderedItems(): OutputItem[] {
    const streamed = [...this.#items.entries()].sort(([a], [b]) => a - b).map(([, item]) => item);
    const items = streamed.length > 0 ? streamed : [...(this.#response.output ?? [])];
    const seen = new Set<string>();
    return items.map((item) => {
      if (item.type !== "function_call") return item;
      const isUsable = item.call_id !== undefined && item.call_id !== "" && !seen.has(item.call_id);
      const call_id = isUsable ? item.call_id : `call_${randomUUID().replaceAll("-", "")}`;
      seen.add(call_id);
      return isUsable ? item : { ...item, call_id };
    });
  }

  #callIndex(outputIndex: number): number {
    return [...this.#names.keys()].sort((a, b) => a - b).indexOf(outputIndex);
  }
}

function textsOf(item: OutputItem): string[] {
  if (item.type !== "message") return [];
  return (item.content ?? []).map((part) => part.text ?? part.refusal ?? "").filter((text) => text !== "");
}

function toToolCall(item: OutputItem): Answered["message"]["toolCalls"][number][] {
  if (item.type !== "function_call") return [];
  const text = item.arguments ?? "";
  return [
    {
      id: item.call_id ?? "",
      name: item.name ?? "",
      arguments: text.trim() === "" ? "{}" : text,
      origin: "responses",
    },
  ];
}

function thoughtOf(item: OutputItem): string {
  const parts = (item.summary ?? []).length > 0 ? item.summary : item.content;
  return (parts ?? []).map((part) => part.text ?? "").join("\n\n");
}

/** What an event may show of reasoning; the sealed part stays in the replay. */
function toReasoningItem(item: OutputItem | undefined): ReasoningItemModel | null {
  if (item === undefined) return null;
  return withoutUndefined({
    id: item.id,
    summary: (item.summary ?? []).map((part) => part.text ?? ""),
    content: item.content ? item.content.map((part) => part.text ?? "") : undefined,
    status: item.status,
  });
}

function toTokens(usage: ResponsesUsage | null): TokenCounts | null {
  if (usage === null) return null;
  return {
    ...noTokens,
    promptTokens: usage.input_tokens ?? 0,
    completionTokens: usage.output_tokens ?? 0,
    cacheReadTokens: usage.input_tokens_details?.cached_tokens ?? 0,
    reasoningTokens: usage.output_tokens_details?.reasoning_tokens ?? 0,
  };
}
