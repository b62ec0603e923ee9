import { randomUUID } from "node:crypto";
import type Anthropic from "@anthropic-ai/sdk";
import type { RedactedThinkingBlock, ThinkingBlock } from "@convoke/protocol";
import type { Answered } from "../answered.ts";
import { countIn, objectsIn, textIn } from "../answer-values.ts";
import type { AttemptPart } from "../attempt.ts";
import { isEndMark, isError, readEvent, reported } from "../error-event.ts";
import { blockedAnswer, cutAnswer, emptyAnswer } from "../failures.ts";
import { ArgumentChunks } from "../received-calls.ts";
import type { ServerSentEvent } from "../sse.ts";
import { noTokens, type TokenCounts } from "../usage.ts";
import type { WireAnswer } from "../wire-attempt.ts";
import { toMessage } from "../message-text.ts";

type StreamEvent = Anthropic.RawMessageStreamEvent | { readonly type: "error"; readonly error: unknown };

type Draft =
  | { readonly type: "text"; readonly chunks: string[] }
  | { readonly type: "thinking"; readonly chunks: string[]; readonly signature: string[] }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly call: number;
      readonly chunks: ArgumentChunks;
      readonly input: unknown;
    };

/** Collects the events of one answer on the Anthropic messages wire. */
export class MessagesAnswer implements WireAnswer {
  readonly #drafts: Draft[] = [];
  /** The last block of each index. */
  readonly #open = new Map<number, Draft>();
  #id = "";
  #model = "";
  #stopReason: string | null = null;
  #usage: Usage = {};
  #isEnded = false;

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
    return isEndMark(event) ? [] : this.#read(readEvent(event) as StreamEvent);
  }

  /** Adds an event and yields what to show of it. Throws when the event says that the answer failed. */
  *#read(event: StreamEvent): Generator<AttemptPart> {
    switch (event.type) {
      case "message_start":
        this.#id = textIn(event.message?.id);
        this.#model = textIn(event.message?.model);
        this.#count(event.message?.usage);
        return;
      case "content_block_start":
        if (event.content_block) yield* this.#begin(event.index, event.content_block);
        return;
      case "content_block_delta":
        if (event.delta) yield* this.#extend(event.index, event.delta);
        return;
      case "message_delta":
        this.#stopReason = event.delta?.stop_reason ?? this.#stopReason;
        this.#count(event.usage);
        return;
      case "message_stop":
        this.#isEnded = true;
        return;
      case "error":
        throw reported(event.error);
      default:
    }
  }

  /** Adds a whole answer, from servers that do not stream. */
  *addWhole(message: Anthropic.Message & { readonly error?: unknown }): Generator<AttemptPart> {
    if (isError(message.error)) yield* this.#read({ type: "error", error: message.error });
    // A compatible server may leave everything out.
    this.#id = textIn(message.id);
    this.#model = textIn(message.model);
    this.#stopReason = message.stop_reason ?? null;
    this.#count(message.usage);
    const content: unknown = message.content;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    for (const [index, block] of objectsIn<Anthropic.ContentBlock>(blocks).entries()) {
      yield* this.#begin(index, block);
    }
    this.#isEnded = true;
  }

  /** The whole answer. Throws when it is cut, blocked or missing; saying nothing is an answer. */
  finish(): Answered {
    if (!this.#isEnded && this.#stopReason === null) throw cutAnswer();
    if (this.#stopReason === "refusal") throw blockedAnswer();
    const drafts = this.#drafts;
    const text = drafts.map((draft) => (draft.type === "text" ? draft.chunks.join("") : "")).join("");
    const thinkingBlocks = drafts.flatMap(toThinkingBlock);
    const thought = thinkingBlocks.map((block) => ("thinking" in block ? block.thinking : "")).join("");
    const seen = new Set<string>();
    const toolCalls = drafts.flatMap((draft) => (draft.type === "tool_use" ? [toToolCall(draft, seen)] : []));
    if (this.#stopReason === null && drafts.length === 0) throw emptyAnswer();
    return {
      id: this.#id || `response_${randomUUID()}`,
      model: this.#model,
      message: { ...toMessage({ text, thought, toolCalls }), thinkingBlocks },
      isTruncated: this.#stopReason === "max_tokens" || this.#stopReason === "model_context_window_exceeded",
      tokens: toTokens(this.#usage),
      billedCost: null,
    };
  }

  *#begin(index: number, block: Anthropic.ContentBlock): Generator<AttemptPart> {
    if (block.type === "text") {
      this.#add(index, { type: "text", chunks: [] });
      yield* this.#extend(index, { type: "text_delta", text: block.text });
    } else if (block.type === "thinking") {
      this.#add(index, { type: "thinking", chunks: [], signature: [textIn(block.signature)] });
      yield* this.#extend(index, { type: "thinking_delta", thinking: block.thinking });
    } else if (block.type === "redacted_thinking") {
      this.#add(index, { type: "redacted_thinking", data: textIn(block.data) });
    } else if (block.type === "tool_use") {
      const call = this.#drafts.filter((draft) => draft.type === "tool_use").length;
      const { input } = block;
      // A compatible server may leave out either.
      const [id, name] = [textIn(block.id), textIn(block.name)];
      this.#add(index, { type: "tool_use", id, name, call, chunks: new ArgumentChunks(), input });
      yield { type: "tool-arguments", index: call, name, text: hasFields(input) ? textIn(input) : "" };
    }
  }

  /** A block that begins at an index that is taken is one more. */
  #add(index: number, draft: Draft): void {
    this.#drafts.push(draft);
    this.#open.set(index, draft);
  }

  *#extend(index: number, delta: Delta): Generator<AttemptPart> {
    const draft = this.#open.get(index);
    switch (delta.type) {
      case "text_delta": {
        const text = textIn(delta.text);
        if (text === "") return;
        // A compatible server may leave out the start of a block of text.
        if (draft?.type === "text") draft.chunks.push(text);
        else this.#add(index, { type: "text", chunks: [text] });
        yield { type: "text", text };
        return;
      }
      case "thinking_delta": {
        const text = textIn(delta.thinking);
        if (text === "") return;
        if (draft?.type === "thinking") draft.chunks.push(text);
        else this.#add(index, { type: "thinking", chunks: [text], signature: [] });
        yield { type: "reasoning", text };
        return;
      }
      case "signature_delta":
        if (draft?.type === "thinking") draft.signature.push(textIn(delta.signature));
        return;
      case "input_json_delta": {
        // A delta of a block without a start belongs to the open call.
        const call = draft ?? this.#drafts.at(-1);
        if (call?.type !== "tool_use") return;
        const text = call.chunks.add(textIn(delta.partial_json));
        yield { type: "tool-arguments", index: call.call, name: call.name, text };
        return;
      }
      default:
    }
  }

  /** Counts are cumulative and come in parts; null and absent mean "as before". */
  #count(usage: Usage | undefined): void {
    const known = Object.entries(usage ?? {}).filter(([, count]) => count !== null && count !== undefined);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }
}

type Delta =
  | Anthropic.RawContentBlockDelta
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "thinking_delta"; readonly thinking: string };

type Usage = {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null;
};

function toThinkingBlock(draft: Draft): (ThinkingBlock | RedactedThinkingBlock)[] {
  if (draft.type === "redacted_thinking") return [{ type: "redacted_thinking", data: draft.data }];
  if (draft.type !== "thinking") return [];
  const signature = draft.signature.join("");
  return [
    { type: "thinking", thinking: draft.chunks.join(""), signature: signature === "" ? null : signature },
  ];
}

/**
 * The argument text is kept as streamed; only an answer that was not streamed has nothing but the object. An id that is
 * missing or in `seen` is replaced, because results are matched by id.
 */
function toToolCall(
  draft: Extract<Draft, { type: "tool_use" }>,
  seen: Set<string>,
): Answered["message"]["toolCalls"][number] {
  const { text } = draft.chunks;
  const whole = textIn(draft.input).trim() || "{}";
  const isUsable = draft.id !== "" && !seen.has(draft.id);
  const id = isUsable ? draft.id : `toolu_${randomUUID().replaceAll("-", "")}`;
  seen.add(id);
  return { id, name: draft.name, arguments: text.trim() === "" ? whole : text, origin: "completion" };
}

function hasFields(input: unknown): boolean {
  return input !== null && input !== undefined && Object.keys(input).length > 0;
}

/** This API counts cached tokens beside the input; we count them inside. */
function toTokens(usage: Usage): TokenCounts | null {
  if (usage.input_tokens === undefined && usage.output_tokens === undefined) return null;
  const cacheReadTokens = countIn(usage.cache_read_input_tokens);
  const cacheWriteTokens = countIn(usage.cache_creation_input_tokens);
  return {
    ...noTokens,
    promptTokens: countIn(usage.input_tokens) + cacheReadTokens + cacheWriteTokens,
    completionTokens: countIn(usage.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: countIn(usage.output_tokens_details?.thinking_tokens),
  };
}
