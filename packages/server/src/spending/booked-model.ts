import { callsIn } from "../models/calls-in.ts";
import type { Model, ModelPart, SpentAttempt } from "../models/model.ts";

/**
 * A model beside the agent's own: what its calls have used up is booked before their end is told, whatever becomes of the
 * answer, so that the stats of a conversation and the ledger say the same (P48).
 */
export function bookedModel(model: Model, record: (calls: readonly SpentAttempt[]) => Promise<void>): Model {
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
