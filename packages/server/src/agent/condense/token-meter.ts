import type { LLM } from "@convoke/protocol";
import { findModelFacts } from "../../models/catalog.ts";
import type { ModelMessage, ModelTool } from "../../models/model.ts";
import type { ViewEvent } from "../history-view.ts";
import { TokenEstimate } from "./token-estimate.ts";
import { isContinued } from "../is-continued.ts";

/** Tokens reserved for the answer where the provider counts request and answer together. */
const reservedForAnswer = 16_384;

/** Reports outside of these factors say more about gaps in the usage than about tokens. */
const calibration = { least: 0.5, max: 2 };

/** How many events back a token report is searched for; beyond that the provider is taken as reporting none. */
const furthestReport = 200;

/** Tokens that a request to this model may have. Source: the configuration, then the catalogue of models. */
export function inputLimit(llm: LLM): number {
  if (llm.max_input_tokens !== null && llm.max_input_tokens !== undefined) return llm.max_input_tokens;
  const { contextWindow, outputLimit } = findModelFacts(llm.model_canonical_name ?? llm.model ?? "");
  const answer = Math.min(llm.max_output_tokens ?? outputLimit ?? reservedForAnswer, reservedForAnswer);
  return contextWindow - Math.min(answer, Math.floor(contextWindow / 4));
}

/** Counts the tokens of a growing request at the price of what was added, corrected by what the provider counted last. */
export class TokenMeter {
  readonly estimate: TokenEstimate;
  #messages: readonly ModelMessage[] = [];
  #messageTokens = 0;
  #tools: readonly ModelTool[] = [];
  #toolTokens = 0;

  constructor(model: string) {
    this.estimate = new TokenEstimate(model);
  }

  /** Estimated tokens of a request, not yet corrected. */
  count(messages: readonly ModelMessage[], tools: readonly ModelTool[]): number {
    this.#messageTokens = isContinued(this.#messages, messages)
      ? this.#messageTokens + this.estimate.messages(messages.slice(this.#messages.length))
      : this.estimate.messages(messages);
    this.#messages = messages;
    if (tools !== this.#tools) {
      this.#tools = tools;
      this.#toolTokens = this.estimate.tools(tools);
    }
    return this.#messageTokens + this.#toolTokens;
  }
}

/**
 * What to multiply an estimate with, from the newest answer of this model whose provider reported usage; 1 when there is none.
 * A summary's usage is ignored: it is often another model's, and its request consists of other text.
 */
export function calibrationOf(view: readonly ViewEvent[], model: string): number {
  const oldest = Math.max(0, view.length - furthestReport);
  for (let index = view.length - 1; index >= oldest; index--) {
    const request = view[index]!.meta.request;
    if (request?.promptTokens === undefined || request.promptTokens <= 0) continue;
    if (request.sawSeq === undefined || request.model !== model) continue;
    const factor = request.promptTokens / Math.max(1, request.estimatedTokens);
    return Math.min(calibration.max, Math.max(calibration.least, factor));
  }
  return 1;
}
