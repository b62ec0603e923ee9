import type { FailureContext } from "./classify.ts";
import type { ModelError } from "./model.ts";

/**
 * A connection that this machine itself refuses: nothing listens there, and that does not pass by waiting long. Null for every other
 * failure.
 */
export function refusedHere(thrown: unknown, { host, port = "" }: FailureContext): ModelError | null {
  if (!loopback.test(host) || !isRefused(thrown, 0)) return null;
  const place = port === "" ? host : `${host}:${port}`;
  return {
    code: "LLMServiceUnavailableError",
    detail: `Nothing listens at ${place}. Start the server of the model there, or change llm.base_url.`,
    isRetryable: true,
    againAfterMs: 1_000,
  };
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u;
const deepest = 6;

/** `fetch` and the SDKs hide the reason in causes; of several addresses each has one. */
function isRefused(error: unknown, depth: number): boolean {
  if (!(error instanceof Error) || depth > deepest) return false;
  if ("code" in error && error.code === "ECONNREFUSED") return true;
  const behind = error instanceof AggregateError ? error.errors.slice(0, 4) : [];
  return [error.cause, ...behind].some((one) => isRefused(one, depth + 1));
}
