import type { LLM, ValidateProfileResponse } from "@convoke/protocol";
import { Fault } from "../../../lib/fault.ts";
import type { ModelPart } from "../../../models/model.ts";
import type { FaceDeps } from "../../face-deps.ts";

const timeoutMs = 30_000;

/** Transient failures do not count against a configuration; an address that does not answer does. */
const passing = new Set(["LLMRateLimitError", "LLMTimeoutError"]);

/** Requests one token from a model. Only failures that a change of the configuration can fix count against it. */
export async function tryModel(
  llm: LLM,
  { openModel }: FaceDeps,
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
  // An account without credit is a permanent limit.
  if (passing.has(last.error.code) && last.error.isRetryable) return { valid: true, error: null };
  const { code, detail, isRetryable } = last.error;
  // Without an answer the address may be wrong; some messages say so themselves.
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
