import { randomUUID } from "node:crypto";
import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { RedactedThinkingBlock, ThinkingBlock } from "@convoke/protocol";
import type { Answered } from "../answered.ts";
import { countIn } from "../answer-values.ts";
import type { AttemptPart } from "../attempt.ts";
import { blockedAnswer, cutAnswer, emptyAnswer, malformedCall } from "../failures.ts";
import { noTokens, type TokenCounts } from "../usage.ts";
import { toMessage } from "../message-text.ts";

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;
type Metadata = Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;

/** One block of an answer, in stream order, with the metadata that the provider attached. */
export type AnswerBlock = {
  readonly type: "text" | "reasoning" | "call";
  /** Of the call, unique; of the block in the stream. */
  readonly id: string;
  /** As the stream spells it: a provider may use one twice. */
  readonly streamId: string;
  text: string;
  readonly name: string;
  /** Google's thought signature, or the signature of Claude's thinking. */
  signature: string | null;
  /** Thinking that only the provider can read. */
  redacted: string | null;
};

/** Collects the parts of one answer from the AI SDK's language models. */
export class AiSdkAnswer {
  readonly #blocks: AnswerBlock[] = [];
  #id = "";
  #finish: Finish | null = null;

  get id(): string {
    return this.#id;
  }

  get tokens(): TokenCounts | null {
    return this.#finish === null ? null : toTokens(this.#finish.usage);
  }

  get blocks(): readonly AnswerBlock[] {
    return this.#blocks;
  }

  /** Adds a part and yields what to show of it. Error parts are the caller's. */
  *add(part: LanguageModelV4StreamPart): Generator<AttemptPart> {
    switch (part.type) {
      case "response-metadata":
        this.#id ||= part.id ?? "";
        return;
      case "text-start":
      case "reasoning-start":
        this.#begin(part.type === "text-start" ? "text" : "reasoning", part.id, part.providerMetadata);
        return;
      case "text-delta":
      case "reasoning-delta": {
        const type = part.type === "text-delta" ? "text" : "reasoning";
        this.#extend(type, part.id, part.delta, part.providerMetadata);
        if (part.delta !== "") yield { type, text: part.delta };
        return;
      }
      case "text-end":
      case "reasoning-end":
        this.#extend(part.type === "text-end" ? "text" : "reasoning", part.id, "", part.providerMetadata);
        return;
      case "tool-input-start":
        this.#begin("call", part.id, part.providerMetadata, part.toolName);
        yield { type: "tool-arguments", index: this.#callCount - 1, name: part.toolName, text: "" };
        return;
      case "tool-input-delta": {
        const call = this.#extend("call", part.id, part.delta, part.providerMetadata);
        yield { type: "tool-arguments", index: this.#indexOf(call), name: call.name, text: part.delta };
        return;
      }
      case "finish":
        this.#finish = part;
        return;
      default:
    }
  }

  /** The whole answer. Throws when it is cut, blocked or missing; saying nothing is an answer. */
  finish(): Answered {
    const finish = this.#finish;
    if (finish === null) throw cutAnswer();
    const { unified, raw } = finish.finishReason;
    const tokens = toTokens(finish.usage);
    if (unified === "content-filter") throw blockedAnswer();
    if (raw === undefined) throw this.#blocks.length === 0 && tokens !== null ? emptyAnswer() : cutAnswer();
    if (unified === "error") throw malformedCall();
    const parts = {
      text: this.#textOf("text"),
      thought: this.#textOf("reasoning"),
      toolCalls: this.#toCalls(),
    };
    return {
      id: this.#id || `response_${randomUUID()}`,
      model: "",
      message: toMessage(parts),
      isTruncated: unified === "length" || raw === "model_context_window_exceeded",
      tokens,
      billedCost: null,
    };
  }

  get #callCount(): number {
    return this.#blocks.filter((block) => block.type === "call").length;
  }

  #indexOf(call: AnswerBlock): number {
    return this.#blocks.filter((block) => block.type === "call").indexOf(call);
  }

  #textOf(type: AnswerBlock["type"]): string {
    return this.#blocks.map((block) => (block.type === type ? block.text : "")).join("");
  }

  #begin(type: AnswerBlock["type"], id: string, metadata: Metadata, name = ""): AnswerBlock {
    const isTaken =
      type === "call" && this.#blocks.some((block) => block.type === "call" && block.streamId === id);
    const own = type === "call" && (id === "" || isTaken) ? `call_${randomUUID().replaceAll("-", "")}` : id;
    const block: AnswerBlock = {
      type,
      id: own,
      streamId: id,
      text: "",
      name,
      signature: null,
      redacted: null,
    };
    attach(block, metadata);
    this.#blocks.push(block);
    return block;
  }

  #extend(type: AnswerBlock["type"], id: string, text: string, metadata: Metadata): AnswerBlock {
    const isIt = (block: AnswerBlock): boolean => block.type === type && block.streamId === id;
    const own =
      this.#blocks.findLast(isIt) ??
      (type === "call" ? this.#blocks.findLast((one) => one.type === "call") : undefined);
    const block = own ?? this.#begin(type, id, metadata);
    block.text += text;
    attach(block, metadata);
    return block;
  }

  #toCalls(): Answered["message"]["toolCalls"] {
    return this.#blocks.flatMap((block) =>
      block.type === "call"
        ? [
            {
              id: block.id,
              name: block.name,
              arguments: block.text.trim() === "" ? "{}" : block.text,
              origin: "completion" as const,
            },
          ]
        : [],
    );
  }
}

/** Thinking of Claude models as blocks, ready to go back to them. */
export function toThinkingBlocks(blocks: readonly AnswerBlock[]): (ThinkingBlock | RedactedThinkingBlock)[] {
  return blocks.flatMap((block): (ThinkingBlock | RedactedThinkingBlock)[] => {
    if (block.type !== "reasoning") return [];
    if (block.redacted !== null) return [{ type: "redacted_thinking", data: block.redacted }];
    return [{ type: "thinking", thinking: block.text, signature: block.signature }];
  });
}

function attach(block: AnswerBlock, metadata: Metadata): void {
  const known = metadata?.["google"] ?? metadata?.["bedrock"] ?? {};
  const signature = known["thoughtSignature"] ?? known["signature"];
  const redacted = known["redactedContent"] ?? known["redactedData"];
  if (typeof signature === "string") block.signature = signature;
  if (typeof redacted === "string") block.redacted = redacted;
}

function toTokens(usage: LanguageModelV4Usage): TokenCounts | null {
  const { inputTokens, outputTokens } = usage;
  if (inputTokens.total === undefined && outputTokens.total === undefined) return null;
  return {
    ...noTokens,
    promptTokens: countIn(inputTokens.total),
    completionTokens: countIn(outputTokens.total),
    cacheReadTokens: countIn(inputTokens.cacheRead),
    cacheWriteTokens: countIn(inputTokens.cacheWrite),
    reasoningTokens: countIn(outputTokens.reasoning),
  };
}
