import { callsIn } from "../models/calls-in.ts";
import type { Model, ModelPart } from "../models/model.ts";
import { toPlainMessage } from "../models/plain-message.ts";
import type { Ending, Observer } from "./observer.ts";

/** The model itself, except that each call is an activity. */
export function watchModel(model: Model, observer: Observer): Model {
  return {
    name: model.name,
    isVisionEnabled: model.isVisionEnabled,
    async *stream(request, signal) {
      const begun = observer.begin({
        kind: "model call",
        model: model.name,
        content: () => JSON.stringify(request.messages.map(toPlainMessage)),
      });
      let ending: Ending = { error: "aborted" };
      try {
        for await (const part of model.stream(request, signal)) {
          ending = endingOf(part) ?? ending;
          yield part;
        }
      } finally {
        observer.end(begun, ending);
      }
    },
  };
}

function endingOf(part: ModelPart): Ending | null {
  const spent = callsIn(part);
  if (part.type === "failed") return { error: part.error.code, spent };
  if (part.type === "aborted") return { error: "aborted", spent };
  return part.type === "done" ? { error: null, spent } : null;
}
