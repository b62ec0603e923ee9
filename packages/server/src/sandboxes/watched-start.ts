import { orAborted } from "../lib/or-aborted.ts";
import { SandboxError } from "./sandbox.ts";
import type { SandboxBackend, SandboxHandle, SandboxKeys, SandboxSpec, StartProgress } from "./sandbox.ts";
import { withinDeadline } from "./within-deadline.ts";

/** A start as its owner sees it while it lasts. */
export type StartNews = StartProgress & { readonly elapsedMs: number };

export type WatchedStart = {
  readonly backend: SandboxBackend;
  readonly spec: SandboxSpec;
  readonly keys: SandboxKeys;
  readonly deadlineMs: number;
  /** How long the backend may clean up after a start that was given up. */
  readonly cleanUpMs: number;
  readonly newsEveryMs: number;
  readonly onNews: (news: StartNews) => void;
  /** Aborting gives the start up. */
  readonly signal: AbortSignal;
};

/** Starts a sandbox, reports each phase when it changes and at intervals, and gives up at the deadline. */
export async function startWatched(options: WatchedStart): Promise<SandboxHandle> {
  const { backend, spec, keys, deadlineMs, cleanUpMs, newsEveryMs, onNews, signal } = options;
  signal.throwIfAborted();
  const startedAtMs = performance.now();
  let progress: StartProgress = { phase: "preparing" };
  const report = (): void => onNews({ ...progress, elapsedMs: Math.round(performance.now() - startedAtMs) });
  const late = new AbortController();
  const timer = setTimeout(
    () =>
      late.abort(
        new SandboxError(
          `The sandbox did not start in ${deadlineMs / 1_000} seconds; it was ${progress.phase}. Start it again, or allow more time.`,
        ),
      ),
    deadlineMs,
  );
  const newsTimer = setInterval(report, newsEveryMs);
  const givenUp = AbortSignal.any([signal, late.signal]);
  const starting = backend.start({
    spec,
    keys,
    onProgress: (next) => {
      if (givenUp.aborted) return;
      progress = next;
      report();
    },
    signal: givenUp,
  });
  try {
    return await orAborted(starting, givenUp);
  } catch (error) {
    if (!givenUp.aborted) throw error;
    try {
      // It may have succeeded at the last moment. What a backend that does not come back leaves goes with the next start or removal.
      return await withinDeadline(starting, cleanUpMs, "Giving the start up");
    } catch {
      throw givenUp.reason;
    }
  } finally {
    clearTimeout(timer);
    clearInterval(newsTimer);
  }
}
