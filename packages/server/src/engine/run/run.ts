import { environmentMessage } from "../../agent/receive.ts";
import { findCircling, type EventTexts } from "../../agent/stuck.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import { DamagedEventError } from "../../journal/journal.ts";
import { DatabaseUnavailableError } from "../../lib/database-unavailable.ts";
import { Fault } from "../../lib/fault.ts";
import { storageFault } from "../../lib/storage-fault.ts";
import { wait } from "../../lib/wait.ts";
import { firstEvents } from "../commands/first-events.ts";
import { Executions } from "./executions.ts";
import { ModelCalls } from "./model-calls.ts";
import { asksModel, failRun, isDone, nextStep, type Step } from "./next-step.ts";
import { OwnedElsewhere } from "../refusals.ts";
import { statusUpdate } from "../../events/state-update.ts";
import type { ConversationState } from "../state/conversation-state.ts";
import { describeError } from "../../lib/describe-error.ts";
import { isWanted, type RunDeps } from "./run-deps.ts";
import { storeEvents } from "./store-events.ts";

type RunStep = Step | { readonly type: "ask to stop" };

/** One pass of the turn machine after another until the log says that the run is over. Effects only: decisions are in `nextStep`. */
export class Run {
  /** Resolves when nothing of this run is in progress any more; never rejects. */
  readonly ended: Promise<void>;
  readonly #deps: RunDeps;
  readonly #effects = new AbortController();
  readonly #calls: ModelCalls;
  readonly #executions: Executions;
  readonly #eventTexts: EventTexts = new WeakMap();
  #mayStop = false;
  #isUnrecorded = false;

  constructor(deps: RunDeps) {
    this.#deps = deps;
    this.#calls = new ModelCalls(deps, this.#effects.signal, (next) => this.#endWith(next));
    this.#executions = new Executions(deps, this.#effects.signal);
    this.ended = this.#watched(() => this.#drive());
  }

  /** True while a model call or a tool is in progress that nobody has cut off. */
  get isWorking(): boolean {
    return (this.#calls.isOpen || this.#executions.executing.size > 0) && !this.#isLeaving;
  }

  /** The actions that tools work on at this moment; they may have had effects already. */
  get executing(): ReadonlySet<string> {
    return this.#executions.executing;
  }

  /** The text of the answer in progress; empty once it was cut off. */
  get answerText(): string {
    return this.#isLeaving ? "" : this.#calls.answerText;
  }

  /** Cuts off the model call and the tools in progress; what a tool has done until now is recorded where its action is still open. */
  abort(): void {
    this.#effects.abort();
  }

  /** No further attempt of a model call starts; the one in progress finishes. */
  leave(): void {
    this.#calls.leave();
  }

  get #isLeaving(): boolean {
    return this.#effects.signal.aborted;
  }

  async #watched(drive: () => Promise<void>): Promise<void> {
    const { observer, id, log } = this.#deps;
    const begun = observer.begin({ kind: "run", conversationId: id });
    await observer.within(begun, drive);
    const { status } = log.state;
    observer.end(begun, { error: status === "error" || status === "stuck" ? status : null });
  }

  async #drive(): Promise<void> {
    try {
      while (await this.#advance());
    } catch (error) {
      await this.#executions.all();
      await this.#fail(error);
    }
  }

  /** Goes a step further, once the database is there for what has to be read for it; false when nothing is left to do. */
  async #advance(): Promise<boolean> {
    const { id, logger } = this.#deps;
    for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 5000)) {
      try {
        return await this.#step();
      } catch (error) {
        if (!(error instanceof DatabaseUnavailableError)) throw error;
        const fields = { conversation: id, error: error.message, retryInMs: delayMs };
        logger.warn(fields, "a run waits for the database");
        await wait(delayMs, this.#effects.signal);
      }
    }
  }

  async #step(): Promise<boolean> {
    const step = await this.#next();
    if (step.type === "request" && this.#deps.log.state.systemPromptSeq === null) await this.#introduce();
    else if (step.type === "request") await this.#calls.make(step.sawSeq);
    else if (step.type === "ask to stop") await this.#askToStop();
    else if (step.type !== "note") {
      if (step.type === "execute") await this.#executions.begin(step.actions);
      else if (this.#executions.isEmpty) return false;
      await this.#executions.next();
    }
    return true;
  }

  /** The next step; the events of a step that ends the run are stored first. */
  async #next(): Promise<RunStep> {
    let step: RunStep = { type: "leave" };
    await storeEvents(this.#deps, this.#effects.signal, async () => {
      step = isWanted(this.#deps, this.#effects.signal)
        ? this.#withHooks(await this.#decide())
        : { type: "leave" };
      return step.type === "settle" || step.type === "note" ? step.drafts : [];
    });
    return step;
  }

  /** An answer after which nothing is left to do ends the run in its own commit, where no hook has a say in that. */
  #endWith(next: Readonly<ConversationState>): readonly EventDraft[] {
    const { hooks } = this.#deps;
    if (hooks?.guardsStop === true || !isWanted(this.#deps, this.#effects.signal)) return [];
    return isDone(next) ? [statusUpdate("finished")] : [];
  }

  /** The log of a message that came while the tools were away gets its system prompt now. */
  async #introduce(): Promise<void> {
    const session = await this.#deps.session.open();
    await storeEvents(this.#deps, this.#effects.signal, () =>
      isWanted(this.#deps, this.#effects.signal) ? firstEvents(session, this.#deps) : [],
    );
  }

  /** Hooks are asked before a run ends as finished; every request to the model makes it a new question. */
  #withHooks(step: Step): RunStep {
    if (step.type === "request") this.#mayStop = false;
    const isAsked = !this.#mayStop && this.#deps.hooks?.guardsStop === true;
    return isAsked && step.type === "settle" && isFinish(step.drafts) ? { type: "ask to stop" } : step;
  }

  /** A hook that denies the end of the run gives a reason, and the model continues with it. */
  async #askToStop(): Promise<void> {
    const { signal } = this.#effects;
    const gated = await this.#deps.hooks!.beforeStop(signal);
    this.#mayStop = !gated.isBlocked;
    await storeEvents(this.#deps, signal, () => {
      if (!isWanted(this.#deps, signal)) return [];
      const feedback = `This work may not end yet. ${gated.reason}`.trim();
      return gated.isBlocked ? [...gated.drafts, environmentMessage(feedback)] : gated.drafts;
    });
  }

  async #decide(): Promise<Step> {
    const { budget, clock, configuration, log } = this.#deps;
    const { config } = configuration;
    const { approval_policy: approval, max_iterations: maxIterations, stuck_detection: isWatched } = config;
    // What takes time to find out decides nothing but whether the model is asked.
    const isAsking = asksModel(log.state);
    const refusal = isAsking ? await budget.refusal() : null;
    const recent = isAsking && isWatched ? await log.recent() : [];
    return nextStep(log.state, {
      maxIterations,
      circling: findCircling(recent, log.state.runStartSeq, this.#eventTexts),
      overBudget: refusal,
      approvalDeadlineMs: approval ? clock.nowMs() + approval.timeout_seconds * 1000 : null,
    });
  }

  /** Up to here the model reads at this moment; 0 when it is not asked. */
  get beingReadSeq(): number {
    return this.#calls.beingReadSeq;
  }

  /** True when the run has failed and the storage does not take that either. */
  get isUnrecorded(): boolean {
    return this.#isUnrecorded;
  }

  /** An unexpected failure ends the run visibly; the log stays true. */
  async #fail(thrown: unknown): Promise<void> {
    const error = storageFault(thrown) ?? damageFault(thrown) ?? thrown;
    const { id, logger, log } = this.#deps;
    if (error instanceof OwnedElsewhere) {
      logger.warn({ conversation: id, error: error.message }, "another process took the conversation over");
      return;
    }
    const fields = { conversation: id, error: String(thrown) };
    // What the conversation asked for and cannot have, such as a model without a provider, is no fault of the server.
    if (error === thrown && error instanceof Fault) logger.warn(fields, "run failed");
    else logger.error(fields, "run failed");
    try {
      await storeEvents(this.#deps, this.#effects.signal, () =>
        log.state.status === "running"
          ? failRun(error instanceof Fault ? error.code : "InternalError", describeError(error))
          : [],
      );
    } catch (failure) {
      this.#isUnrecorded = true;
      logger.error({ conversation: id, error: String(failure) }, "the failure could not be recorded");
    }
  }
}

/** An event that the run needs cannot be read. */
function damageFault(error: unknown): Fault | null {
  if (!(error instanceof DamagedEventError)) return null;
  return new Fault("bug", "event_damaged", `${error.message}. Restore the data folder from a backup.`);
}

function isFinish(drafts: readonly EventDraft[]): boolean {
  return drafts.some(
    ({ body }) => typeof body !== "function" && "value" in body && body.value === "finished",
  );
}
