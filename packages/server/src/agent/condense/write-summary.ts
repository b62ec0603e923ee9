import { clipText, shortNotice } from "@convoke/tool-host";
import type { RequestRecord } from "../../events/event-draft.ts";
import type { Model, ModelResponse } from "../../models/model.ts";
import { lastPart, wordsOf } from "../side-question.ts";
import { RequestHash } from "../request-hash.ts";
import { shares, type CondenserSettings } from "./condenser-settings.ts";
import type { CondensationPlan } from "./plan.ts";
import { summaryRequest } from "./summary-request.ts";
import { inputLimit } from "./token-meter.ts";
import { TokenEstimate } from "./token-estimate.ts";

/** Notes that a model wrote, and what it was asked. */
export type WrittenSummary = {
  readonly summary: string;
  readonly response: ModelResponse;
  readonly request: RequestRecord;
  readonly shownCharacters: number;
};

export type SummaryFailure = { readonly code: string; readonly detail: string };

const characters = { maxCharacters: 6_000, least: 200 } as const;

/** Share of the summarising model's window that its request may fill. */
const requestShare = 0.7;

/**
 * Has the notes of a plan written. A request that is too long is made again with less of each event, at most
 * `settings.attempts` times in all; any other failure is final. Null when it was given up: no try begins once `leaving` aborts.
 */
export async function writeSummary(
  plan: CondensationPlan,
  settings: CondenserSettings,
  model: Model,
  { signal, leaving }: { readonly signal: AbortSignal; readonly leaving: AbortSignal },
): Promise<WrittenSummary | SummaryFailure | null> {
  const estimate = new TokenEstimate(settings.llm.model ?? "");
  const limit = inputLimit(settings.llm) * requestShare;
  let shownCharacters: number = characters.maxCharacters;
  let request = summaryRequest(plan, shownCharacters);
  const shrink = (): void => {
    shownCharacters = Math.max(characters.least, Math.floor(shownCharacters * settings.scaling));
    request = summaryRequest(plan, shownCharacters);
  };
  const tokens = (): number => estimate.messages(request.messages);
  while (tokens() > limit && shownCharacters > characters.least) shrink();
  for (let attempt = 1; ; attempt += 1) {
    const last = await lastPart(model.stream({ ...request, leaving }, signal));
    if (last.type === "aborted") return null;
    if (last.type === "failed") {
      const isTooLong = last.error.code === "LLMContextWindowExceedError";
      if (!isTooLong || attempt >= settings.attempts) return last.error;
      shrink();
      continue;
    }
    const { response } = last;
    const notes = wordsOf(response).trim();
    if (notes === "") return { code: "LLMNoResponseError", detail: "The model wrote no summary." };
    const hash = new RequestHash();
    return {
      summary: boundedNotes(notes, settings),
      response,
      shownCharacters,
      request: {
        model: model.name,
        messages: hash.messages(request.messages),
        tools: hash.tools(request.tools),
        estimatedTokens: tokens(),
        promptTokens: response.usage.promptTokens,
      },
    };
  }
}

/** Notes must leave room for what comes after them. */
export function boundedNotes(notes: string, settings: CondenserSettings): string {
  const charactersPerToken = 3;
  const maxCharacters = Math.max(2_000, Math.floor(settings.maxTokens * shares.summary * charactersPerToken));
  return clipText(notes, maxCharacters, shortNotice);
}
