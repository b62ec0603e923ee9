import type { LLM, ValidateProfileResponse } from "@convoke/protocol";
import { Fault } from "../../../lib/fault.ts";
import type { Model, ModelPart } from "../../../models/model.ts";

export type TryModelDeps = { readonly openModel: (llm: LLM) => Model };

const timeoutMs = 30_000;

/** What passes by itself says nothing against a configuration. An address where nobody answers does. */
const passing = new Set(["LLMRateLimitError", "LLMTimeoutError"]);

/** Asks a model for one token. Only what a change of the configuration would mend counts against it. */
export async function tryModel(
  llm: LLM,
  { openModel }: TryModelDeps,
  signal: AbortSignal,
): Promise<ValidateProfileResponse> {
  try {
    const model = openModel({ ...llm, num_retries: 0, max_output_tokens: 1, timeout: timeoutMs / 1000 });
    const request = {
      messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "ping" }] }],
      tools: [],
      cacheKey: "validate",
    };
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    return verdictOf(await lastOf(model.stream(request, limit)));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { valid: false, error: { type: "validation", message: error.message } };
  }
}

function verdictOf(last: ModelPart | null): ValidateProfileResponse {
  if (last?.type !== "failed") return { valid: true, error: null };
  // An account without credit is a limit that does not pass.
  if (passing.has(last.error.code) && last.error.isRetryable) return { valid: true, error: null };
  const { code, detail, isRetryable } = last.error;
  // Where nobody answered, the address may be another one's or nobody's; some sentences say so themselves.
  const isUnreached =
    code === "LLMServiceUnavailableError" && isRetryable && !detail.includes("llm.base_url");
  const message = isUnreached ? `${detail} Check llm.base_url, and whether the model's server runs.` : detail;
  return { valid: false, error: { type: code, message } };
}

async function lastOf(parts: AsyncIterable<ModelPart>): Promise<ModelPart | null> {
  let last: ModelPart | null = null;
  for await (const part of parts) last = part;
  return last;
}
