import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { wait } from "../lib/wait.ts";
import type { Conversation } from "../engine/conversation.ts";
import { failRun } from "../engine/run/next-step.ts";
import type { Standstills } from "./standstills.ts";

/** The runs that may have been the reason of a standstill. */
export interface SuspectRuns {
  goOnWith(id: string): Promise<void>;
  isRunning(id: string): Promise<boolean>;
}

export type CarefulRecoveryDeps = {
  readonly standstills: Standstills;
  readonly runs: SuspectRuns;
  readonly clock: Clock;
};

/** Between two of them, so that a standstill finds as few as possible at work. */
const gapMs = 1_000;
/** All of them have begun after so long. */
const maxMs = 20_000;
/** A run that has lasted this long since the restart did not cause the standstill. */
const provenMs = 600_000;

/** Goes on, one after another, with conversations that were at work when a process of ours came to a standstill. */
export class CarefulRecovery implements AsyncDisposable {
  readonly #deps: CarefulRecoveryDeps;
  readonly #closing = new AbortController();
  readonly #waiting = new Set<string>();
  readonly #begunAtMs = new Map<string, number>();
  #work: Promise<void> = Promise.resolve();

  constructor(deps: CarefulRecoveryDeps) {
    this.#deps = deps;
  }

  /** True until its turn has come. */
  isWaiting(id: string): boolean {
    return this.#waiting.has(id);
  }

  begin(ids: readonly string[]): void {
    for (const id of ids) this.#waiting.add(id);
    this.#work = this.#goOn(ids);
  }

  /** Forgets whom nothing is to blame for any more; call now and then. */
  async absolve(): Promise<void> {
    const { clock, standstills, runs } = this.#deps;
    for (const [id, begunAtMs] of this.#begunAtMs) {
      if (clock.nowMs() - begunAtMs < provenMs && (await runs.isRunning(id))) continue;
      this.#begunAtMs.delete(id);
      await standstills.forget(id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#work;
  }

  async #goOn(ids: readonly string[]): Promise<void> {
    const { signal } = this.#closing;
    for (const id of ids) {
      if (signal.aborted) return;
      this.#begunAtMs.set(id, this.#deps.clock.nowMs());
      await this.#deps.runs.goOnWith(id);
      this.#waiting.delete(id);
      // Ends early when the server closes.
      await wait(Math.min(gapMs, maxMs / ids.length), signal);
    }
  }
}

export type GoOnDeps = {
  readonly id: string;
  readonly standstills: Pick<Standstills, "forget" | "isSetAside">;
  readonly logger: Logger;
};

/** Not where the process came to a standstill again and again: then the run ends, and only who asks for it has it tried again (P2). */
export async function goOnOrSetAside(
  conversation: Pick<Conversation, "resume" | "setAside"> & {
    readonly configuration: Pick<Conversation["configuration"], "config">;
  },
  { id, standstills, logger }: GoOnDeps,
): Promise<void> {
  // The client was disconnected too and will repeat its request: both would run, and more after each restart.
  if ((conversation.configuration.config.call_depth ?? 0) > 0) await conversation.setAside(askerGone);
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

const askerGone = failRun(
  "AskerGone",
  "This conversation answered another one as its model, and the server ended meanwhile. The other one asks anew, in a new conversation.",
);
