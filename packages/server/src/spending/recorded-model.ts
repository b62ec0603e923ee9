import { callsIn } from "../models/calls-in.ts";
import type { Model, ModelPart, SpentAttempt } from "../models/model.ts";

/**
 * Wraps a model other than the agent's own: the usage of its calls is recorded before they end, whether or not the
 * answer is used, so that a conversation's stats and the ledger agree (P48).
 */
export function recordedModel(
  model: Model,
  record: (calls: readonly SpentAttempt[]) => Promise<void>,
): Model {
  return {
    name: model.name,
    isVisionEnabled: model.isVisionEnabled,
    async *stream(request, signal): AsyncGenerator<ModelPart> {
      for await (const part of model.stream(request, signal)) {
        const calls = callsIn(part);
        if (calls.length > 0) await record(calls);
        yield part;
      }
    },
  };
}
