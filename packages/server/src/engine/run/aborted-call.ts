import type { LLM } from "@convoke/protocol";
import { TokenMeter } from "../../agent/condense/token-meter.ts";
import type { Model, ModelPart, ModelRequest, SpentAttempt } from "../../models/model.ts";
import { readModelSettings } from "../../models/model-settings.ts";
import { costOf, noTokens } from "../../models/usage.ts";

/** Characters per token, estimated. */
const charactersPerToken = 4;

/** Wraps a model: an aborted call ends with an estimate of its usage. */
export function estimatedWhenAborted(model: Model, llm: LLM): Model {
  return {
    name: model.name,
    isVisionEnabled: model.isVisionEnabled,
    async *stream(request, signal): AsyncGenerator<ModelPart> {
      // No attempt starts after an abort or a pause: the provider gets no request.
      const isSent = !signal.aborted && request.leaving?.aborted !== true;
      const call = new AbortedCall(llm, request, isSent);
      for await (const part of model.stream(request, signal)) {
        if (part.type === "aborted") yield { ...part, spent: [...(part.spent ?? []), ...call.spent()] };
        else yield part;
        call.see(part);
      }
    },
  };
}

/**
 * Estimates the usage of an aborted call: providers report usage only at the end of an answer, and bill what they
 * wrote until then (P48).
 */
class AbortedCall {
  readonly #llm: LLM;
  readonly #request: ModelRequest;
  #characters = 0;
  #isSent: boolean;

  constructor(llm: LLM, request: ModelRequest, isSent: boolean) {
    this.#llm = llm;
    this.#request = request;
    this.#isSent = isSent;
  }

  see(part: ModelPart): void {
    if (part.type === "retry") this.#characters = 0;
    if ("text" in part) this.#characters += part.text.length;
    // No request is in flight while a retry is pending.
    this.#isSent = part.type !== "retry";
  }

  /** Nothing if no request was in flight. */
  spent(): SpentAttempt[] {
    if (!this.#isSent) return [];
    const { contextWindow, price, route } = readModelSettings(this.#llm);
    const { messages, tools } = this.#request;
    const tokens = {
      ...noTokens,
      promptTokens: new TokenMeter(this.#llm.model ?? "").count(messages, tools),
      completionTokens: Math.ceil(this.#characters / charactersPerToken),
    };
    const usage = { ...tokens, contextWindow, cost: costOf(tokens, price) };
    return [{ id: "interrupted", model: route.model, usage }];
  }
}
