import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { wait } from "../lib/wait.ts";
import type { Conversation } from "../engine/conversation.ts";
import { failRun } from "../events/state-update.ts";
import type { Standstills } from "./standstills.ts";

/** Access to the runs that may have caused a standstill. */
export interface SuspectRuns {
  resumeRun(id: string): Promise<void>;
  isRunning(id: string): Promise<boolean>;
}

export type SequentialRecoveryDeps = {
  readonly standstills: Standstills;
  readonly runs: SuspectRuns;
  readonly clock: Clock;
};

/** Pause between two runs, so that a new standstill has few suspects. */
const gapMs = 1_000;
/** All runs are started within this time. */
const maxMs = 20_000;
/** A run that has lasted this long since the restart did not cause the standstill. */
const provenMs = 600_000;

/** Resumes conversations one after another that were running when an earlier process of this server came to a standstill. */
export class SequentialRecovery implements AsyncDisposable {
  readonly #deps: SequentialRecoveryDeps;
  readonly #closing = new AbortController();
  readonly #waiting = new Set<string>();
  readonly #startedAtMs = new Map<string, number>();
  #work: Promise<void> = Promise.resolve();

  constructor(deps: SequentialRecoveryDeps) {
    this.#deps = deps;
  }

  /** True until the run is resumed. */
  isWaiting(id: string): boolean {
    return this.#waiting.has(id);
  }

  start(ids: readonly string[]): void {
    for (const id of ids) this.#waiting.add(id);
    this.#work = this.#resumeAll(ids);
  }

  /** Clears suspects that have run long enough or ended; call at intervals. */
  async clearSuspects(): Promise<void> {
    const { clock, standstills, runs } = this.#deps;
    for (const [id, startedAtMs] of this.#startedAtMs) {
      if (clock.nowMs() - startedAtMs < provenMs && (await runs.isRunning(id))) continue;
      this.#startedAtMs.delete(id);
      await standstills.forget(id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#work;
  }

  async #resumeAll(ids: readonly string[]): Promise<void> {
    const { signal } = this.#closing;
    for (const id of ids) {
      if (signal.aborted) return;
      this.#startedAtMs.set(id, this.#deps.clock.nowMs());
      await this.#deps.runs.resumeRun(id);
      this.#waiting.delete(id);
      // Ends early when the server closes.
      await wait(Math.min(gapMs, maxMs / ids.length), signal);
    }
  }
}

export type ResumeDeps = {
  readonly id: string;
  readonly standstills: Pick<Standstills, "forget" | "isSetAside">;
  readonly logger: Logger;
};

/** Resumes a run, or ends it with an error if it stalled the process twice; then only a client can start it again (P2). */
export async function resumeOrSetAside(
  conversation: Pick<Conversation, "resume" | "setAside"> & {
    readonly configuration: Pick<Conversation["configuration"], "config">;
  },
  { id, standstills, logger }: ResumeDeps,
): Promise<void> {
  // The calling conversation repeats its request after a restart: resuming this one too would run both.
  if ((conversation.configuration.config.call_depth ?? 0) > 0) await conversation.setAside(callerGone);
  if (!standstills.isSetAside(id)) return await conversation.resume();
  logger.error({ conversation: id }, "a conversation that stalled the server is set aside");
  await conversation.setAside(
    failRun(
      "ServerStoodStill",
      "The server came to a standstill twice while this conversation was at work, and was started again. Its run is not resumed " +
        "by itself. Check what it did last, such as hooks, MCP servers and their tools; then call run, or send a message.",
    ),
  );
  await standstills.forget(id);
}

const callerGone = failRun(
  "AskerGone",
  "This conversation answered another one as its model, and the server ended meanwhile. The other one repeats its request in a new conversation.",
);
