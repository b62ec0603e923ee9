import type { Model, ModelPart } from "../models/model.ts";

/** Wraps models whose answers wait until they are released, so that something can happen between request and answer. */
export function holdAnswers(): { readonly wrapModel: (model: Model) => Model; readonly release: () => void } {
  const released = Promise.withResolvers<void>();
  return {
    release: () => released.resolve(),
    wrapModel: (model) => ({
      name: model.name,
      isVisionEnabled: model.isVisionEnabled,
      async *stream(request, signal): AsyncGenerator<ModelPart> {
        const aborted = new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
        for await (const part of model.stream(request, signal)) {
          await Promise.race([released.promise, aborted]);
          yield part;
        }
      },
    }),
  };
}
