import type { LLM } from "@convoke/protocol";
import type { Model, ModelError, ModelPart, ModelRequest, SpentAttempt } from "./model.ts";

/** Opens a saved model by the name of its profile; null when there is none. May throw a Fault for one that is wrong. */
export type OpenProfile = (name: string) => Promise<Model | null>;

/** The profile names of `llm.fallback_strategy`, in order. */
export function fallbackNamesOf(llm: LLM): readonly string[] {
  const { fallback_strategy: strategy } = llm as { readonly fallback_strategy?: unknown };
  if (typeof strategy !== "object" || strategy === null) return [];
  const { fallback_llms: names } = strategy as { readonly fallback_llms?: unknown };
  return Array.isArray(names) ? names.filter((name): name is string => typeof name === "string") : [];
}

/**
 * A model that asks others, in order, when its provider fails in a way that may pass: after its own retries, for this call
 * only. A request that is wrong or too long is not asked again elsewhere. Tokens are recorded under this model's usage id.
 */
export function createFallbackModel(primary: Model, names: readonly string[], open: OpenProfile): Model {
  return {
    name: primary.name,
    isVisionEnabled: primary.isVisionEnabled,
    stream: (request, signal) => streamWithFallbacks(primary, names, open, { request, signal }),
  };
}

type Call = { readonly request: ModelRequest; readonly signal: AbortSignal };

async function* streamWithFallbacks(
  primary: Model,
  names: readonly string[],
  open: OpenProfile,
  { request, signal }: Call,
): AsyncGenerator<ModelPart> {
  const skipped: string[] = [];
  const spent: SpentAttempt[] = [];
  let failed: ModelError | null = null;
  for (const name of [null, ...names]) {
    let model: Model | null = primary;
    if (name !== null) {
      if (signal.aborted || request.leaving?.aborted === true) break;
      const opened = await openSafely(name, open);
      if (typeof opened === "string") {
        skipped.push(opened);
        continue;
      }
      model = opened;
      // Void whatever the model before has streamed.
      yield { type: "retry", attempt: 1, untilMs: 0, error: failed! };
    }
    failed = null;
    for await (const part of model.stream(request, signal)) {
      if (part.type === "failed") {
        failed = part.error;
        spent.push(...(part.spent ?? []));
      } else if (part.type === "done" && spent.length > 0) {
        const all = [...spent, ...(part.response.spent ?? [])];
        yield { type: "done", response: { ...part.response, spent: all } };
      } else if (part.type === "aborted" && spent.length > 0)
        yield { type: "aborted", spent: [...spent, ...(part.spent ?? [])] };
      else yield part;
    }
    if (failed === null) return;
    if (!mayPassElsewhere(failed)) break;
  }
  const anySpent = spent.length > 0 ? spent : undefined;
  if (signal.aborted || failed === null) yield { type: "aborted", spent: anySpent };
  else {
    const detail = [failed.detail, ...skipped].join(" ");
    yield { type: "failed", error: { ...failed, detail }, spent: anySpent };
  }
}

/** The model, or a sentence about why there is none. */
async function openSafely(name: string, open: OpenProfile): Promise<Model | string> {
  try {
    return (await open(name)) ?? `The fallback profile ${name} does not exist.`;
  } catch (error) {
    return `The fallback profile ${name} cannot be used: ${error instanceof Error ? error.message : "unreadable"}`;
  }
}

/** What another provider may do better: everything that is about the provider, not about the request. */
function mayPassElsewhere({ code, isRetryable }: ModelError): boolean {
  return isRetryable || code === "LLMRateLimitError" || code === "LLMServiceUnavailableError";
}
