import { wait } from "../lib/wait.ts";
import { decideAbandoned } from "./commands/decide.ts";
import { awaitedTools } from "./client-calls.ts";
import { lostCall, settleStarted } from "./run/settle-started.ts";
import type { SharedParts } from "./shared-parts.ts";
import type { EarlierRuns } from "./run/run-deps.ts";
import { mayPass } from "./run/store-events.ts";
import { toolTimeoutMs, type LazySession } from "./lazy-session.ts";

export type UnfinishedRunsDeps = Pick<SharedParts, "configuration" | "id" | "log" | "logger" | "queue"> & {
  readonly session: LazySession;
};

/** What the last process left open in a conversation: calls that may have started, and its run. */
export class UnfinishedRuns implements EarlierRuns {
  readonly #deps: UnfinishedRunsDeps;
  /** Open calls at the take-over by this process. */
  readonly #calls = new Set<string>();
  #isUnsettled = false;

  constructor(deps: UnfinishedRunsDeps) {
    this.#deps = deps;
  }

  /** True for a call that an earlier process may have started. */
  mayHaveBegun(actionId: string): boolean {
    return this.#calls.has(actionId);
  }

  /** True while the store is unavailable: a run that continued would repeat calls that another node has started. */
  get isUnsettled(): boolean {
    return this.#isUnsettled;
  }

  /**
   * Settles the calls that had started, and calls `onSettled` before any other mailbox job. If the store is
   * unavailable, retries until `closing` aborts.
   */
  async settleAll(closing: AbortSignal, onSettled: () => void): Promise<void> {
    const { id, logger, queue } = this.#deps;
    for (let delayMs = 100; !closing.aborted; delayMs = Math.min(delayMs * 2, 5000)) {
      try {
        return await queue.post(() => this.#settle().finally(onSettled));
      } catch (error) {
        if (!this.isUnsettled) throw error;
        const fields = { conversation: id, error: String(error), retryInMs: delayMs };
        logger.warn(fields, "open calls could not be settled yet");
        await wait(delayMs, closing);
      }
    }
  }

  async #settle(): Promise<void> {
    try {
      await this.#settleCalls();
      await this.#interruptAttended();
      this.#isUnsettled = false;
    } catch (error) {
      this.#isUnsettled = mayPass(error);
      throw error;
    }
  }

  async #settleCalls(): Promise<void> {
    const { log } = this.#deps;
    // A call of the client is handed to it once, and waits on.
    const awaited = new Set(awaitedTools(this.#deps.configuration.config).map(({ name }) => name));
    const isOfClient = (name: string): boolean => awaited.has(name);
    // Actions approved after an earlier attempt have not started.
    const left = log.state.openActions.filter(({ id, gate, toolName }) =>
      this.#isUnsettled ? this.#calls.has(id) : gate === "approved" && !isOfClient(toolName),
    );
    for (const { id } of left) this.#calls.add(id);
    if (left.length === 0) return;
    const session = await this.#deps.session.openWithin(toolTimeoutMs);
    const isFromElsewhere = log.lease.isFromElsewhere === true;
    // A resumed run asks about each call again, and finds no record of calls that another node has started.
    if (session === null && !isFromElsewhere) return;
    const drafts =
      session === null ? left.map(lostCall) : await settleStarted(left, session, isFromElsewhere);
    if (drafts.length > 0) await log.append(drafts);
  }

  /** The process of an attended run has ended: the run resumes only on request (P64). */
  async #interruptAttended(): Promise<void> {
    const { log } = this.#deps;
    const { state } = log;
    if (state.status === "running" && state.isAttended) await log.append(decideAbandoned(state).drafts);
  }
}
