import type { LLM } from "@convoke/protocol";
import { callsIn } from "../models/calls-in.ts";
import type { Model, ModelPart } from "../models/model.ts";
import { readModelSettings } from "../models/model-settings.ts";
import type { Purchase, BudgetGuard } from "./budget-guard.ts";

export type MeterDeps = Omit<Purchase, "maxCost"> & { readonly budgetGuard: BudgetGuard };

/**
 * The same model with a budget guard: each call is admitted by the guard, and recorded before it ends. A refused call
 * fails with `MaxBudgetReached`.
 */
export function meteredModel(model: Model, llm: LLM, { budgetGuard, ...purchase }: MeterDeps): Model {
  const { userId, conversationId } = purchase;
  return {
    name: model.name,
    isVisionEnabled: model.isVisionEnabled,
    async *stream(request, signal): AsyncGenerator<ModelPart> {
      const { leaving } = request;
      const ending = leaving === undefined ? signal : AbortSignal.any([signal, leaving]);
      const admission = await budgetGuard.admit({ ...purchase, maxCost: maxCostOf(llm) }, ending);
      if (admission.type === "aborted") {
        yield { type: "aborted" };
        return;
      }
      if (admission.type === "refused") {
        const { detail } = admission;
        yield { type: "failed", error: { code: "MaxBudgetReached", detail, isRetryable: false } };
        return;
      }
      try {
        for await (const part of model.stream(request, signal)) {
          const usages = callsIn(part).map(({ usage }) => usage);
          if (usages.length > 0) await budgetGuard.ledger.record({ userId, conversationId, usages });
          yield part;
        }
      } finally {
        admission.release();
      }
    },
  };
}

/**
 * The maximum cost of a call in US dollars: the list price of a full context window and the longest answer, for each
 * attempt; infinite when another price may apply.
 */
function maxCostOf(llm: LLM): number {
  const { price, contextWindow, outputLimit, facts, isOwnAddress, retry } = readModelSettings(llm);
  const isOneModel = (llm.fallback_strategy ?? null) === null && (llm.router ?? null) === null;
  if (price === null || !isOwnAddress || !isOneModel) return Infinity;
  const input = Math.max(price.input, price.cacheRead, price.cacheWrite);
  const output = outputLimit ?? facts.outputLimit ?? contextWindow;
  return retry.attempts * (contextWindow * input + output * price.output);
}
