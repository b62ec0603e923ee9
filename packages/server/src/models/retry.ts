import { runAttempt, type Attempt, type AttemptDeps } from "./attempt.ts";
import type { Model, ModelError, ModelPart, ModelRequest, Spent, SpentAttempt } from "./model.ts";
import type { RetryPolicy } from "./model-settings.ts";

/** Longest wait that a provider's Retry-After can ask for. */
const maxRetryAfterMs = 5 * 60_000;
/** No attempt begins later than this after the first one. */
const maxTotalMs = 30 * 60_000;

type RetryDeps = AttemptDeps & { readonly policy: RetryPolicy };

type ModelParts = Pick<Model, "name" | "isVisionEnabled"> & { readonly attempt: Attempt };

/** A model that tries again after failures that may pass: bounded in attempts and total time, abortable while it waits. */
export function createRetryingModel(parts: ModelParts, deps: RetryDeps): Model {
  return {
    name: parts.name,
    isVisionEnabled: parts.isVisionEnabled,
    stream: (request, signal) => streamWithRetry(parts.attempt, request, signal, deps),
  };
}

/** `attempt` of a retry part is the number of the attempt that failed, counted from 1. */
async function* streamWithRetry(
  attempt: Attempt,
  request: ModelRequest,
  signal: AbortSignal,
  deps: RetryDeps,
): AsyncGenerator<ModelPart> {
  const startMs = deps.clock.nowMs();
  const spent: SpentAttempt[] = [];
  const anySpent = (): Spent => (spent.length > 0 ? spent : undefined);
  for (let number = 1; ; number += 1) {
    let failed: ModelError | null = null;
    for await (const part of runAttempt(attempt, request, signal, deps)) {
      if (part.type === "failed") failed = part.error;
      else if (part.type === "spent") spent.push(part.attempt);
      else if (part.type === "done" && spent.length > 0) {
        yield { type: "done", response: { ...part.response, spent } };
      } else if (part.type === "aborted" && spent.length > 0) yield { type: "aborted", spent };
      else yield part;
    }
    if (failed === null) return;
    if (request.leaving?.aborted === true) {
      yield { type: "aborted", spent: anySpent() };
      return;
    }
    const waitMs = waitBefore(number, failed, deps);
    const untilMs = deps.clock.nowMs() + waitMs;
    if (!failed.isRetryable || number >= deps.policy.attempts || untilMs - startMs > maxTotalMs) {
      yield { type: "failed", error: afterAttempts(failed, number), spent: anySpent() };
      return;
    }
    yield { type: "retry", attempt: number, untilMs, error: failed };
    if (!(await isSleptThrough(waitMs, eitherOf(signal, request.leaving), deps))) {
      yield { type: "aborted", spent: anySpent() };
      return;
    }
  }
}

/** The provider's own wish wins over the back-off; up to a quarter more is added so that many clients spread out. */
function waitBefore(failedAttempts: number, error: ModelError, deps: RetryDeps): number {
  const { multiplierMs, minWaitMs, maxWaitMs, isUsual } = deps.policy;
  if (isUsual === true && error.againAfterMs !== undefined) return error.againAfterMs;
  const grown = multiplierMs * 2 ** (failedAttempts - 1);
  const backOff = Math.min(Math.max(grown, minWaitMs), Math.max(maxWaitMs, minWaitMs));
  const wished = error.retryAfterMs === undefined ? backOff : Math.min(error.retryAfterMs, maxRetryAfterMs);
  return wished * (1 + deps.clock.random() / 4);
}

function afterAttempts(error: ModelError, attempts: number): ModelError {
  return attempts === 1 ? error : { ...error, detail: `${error.detail} (${attempts} attempts were made.)` };
}

function eitherOf(signal: AbortSignal, leaving: AbortSignal | undefined): AbortSignal {
  return leaving === undefined ? signal : AbortSignal.any([signal, leaving]);
}

async function isSleptThrough(waitMs: number, signal: AbortSignal, deps: RetryDeps): Promise<boolean> {
  if (signal.aborted) return false;
  try {
    await deps.clock.sleep(waitMs, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
