import { headerProblem } from "../lib/header-problem.ts";
import type { Attempt } from "./attempt.ts";
import { ModelFailure } from "./classify.ts";
import type { ModelSettings } from "./model-settings.ts";

/** An attempt that says which field is wrong where a key or a header cannot be sent; to fetch, either is a broken connection. */
export function withUsableHeaders(attempt: Attempt, settings: ModelSettings): Attempt {
  const failure = problemOf(settings);
  if (failure === null) return attempt;
  return () => {
    throw failure;
  };
}

function problemOf({ apiKey, headers }: ModelSettings): ModelFailure | null {
  const keyProblem = apiKey === null ? null : headerProblem("authorization", apiKey);
  if (keyProblem !== null)
    return refusal("LLMAuthenticationError", `llm.api_key ${keyProblem}. Copy the key again.`);
  for (const [name, value] of Object.entries(headers)) {
    const problem = headerProblem(name, value);
    if (problem !== null)
      return refusal(
        "LLMBadRequestError",
        `llm.extra_headers: "${name.slice(0, 100)}" ${problem}. Change it.`,
      );
  }
  return null;
}

function refusal(code: "LLMAuthenticationError" | "LLMBadRequestError", detail: string): ModelFailure {
  return new ModelFailure({ code, detail, isRetryable: false });
}
