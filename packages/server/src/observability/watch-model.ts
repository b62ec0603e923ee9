import type { Model, ModelPart } from "../models/model.ts";
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
        content: () => JSON.stringify(request.messages),
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
  if (part.type === "failed") return { error: part.error.code, spent: part.spent ?? [] };
  if (part.type !== "done") return null;
  const { response } = part;
  return { error: null, spent: [...(response.spent ?? []), response] };
}
