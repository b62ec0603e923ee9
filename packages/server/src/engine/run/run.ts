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
import { asksModel, isDone, nextStep, type Step } from "./next-step.ts";
import { nextTurn } from "./next-turn.ts";
import { deadlineOf } from "../approval-policy.ts";
import { OwnedElsewhere } from "../refusals.ts";
import { failRun, statusUpdate } from "../../events/state-update.ts";
import type { ConversationState } from "../state/conversation-state.ts";
import { describeError } from "../../lib/describe-error.ts";
import { isWanted, type RunDeps } from "./run-deps.ts";
import { Reviews } from "./reviews.ts";
import { RunRules } from "./run-rules.ts";
import { storeEvents } from "./store-events.ts";
import { timeLimitOf } from "./time-limits.ts";

type RunStep = Step | { readonly type: "ask to stop" };

/** Runs the turn machine until the log says that the run has ended. Effects only: decisions are in `nextStep`. */
export class Run {
  /** Resolves when all work of this run has ended; never rejects. */
  readonly ended: Promise<void>;
  readonly #deps: RunDeps;
  readonly #effects = new AbortController();
  readonly #calls: ModelCalls;
  readonly #executions: Executions;
  readonly #reviews: Reviews;
  readonly #rules: RunRules;
  readonly #eventTexts: EventTexts = new WeakMap();
  #mayStop = false;
  #isUnrecorded = false;

  constructor(deps: RunDeps) {
    this.#deps = deps;
    this.#rules = new RunRules(deps);
    const following = (next: Readonly<ConversationState>): readonly EventDraft[] => this.#endWith(next);
    this.#calls = new ModelCalls(deps, this.#effects.signal, { following, rules: this.#rules });
    this.#executions = new Executions(deps, this.#effects.signal);
    this.#reviews = new Reviews(deps, this.#effects.signal, this.#rules);
    this.ended = this.#watched(() => this.#drive());
  }

  /** True while a model call or tool is in progress that was not aborted. */
  get isWorking(): boolean {
    const isWorking = this.#calls.isOpen || this.#reviews.isOpen || this.#executions.executing.size > 0;
    return isWorking && !this.#isLeaving;
  }

  /** Actions with a running tool; they may have had effects. */
  get executing(): ReadonlySet<string> {
    return this.#executions.executing;
  }

  /** The partial text of the current answer; empty once aborted. */
  get answerText(): string {
    return this.#isLeaving ? "" : this.#calls.answerText;
  }

  /** Aborts the model call and the tools in progress; partial results of tools are recorded for open actions. */
  abort(): void {
    this.#effects.abort();
  }

  /** Prevents further attempts of the model call; the current one finishes. A review is aborted. */
  leave(): void {
    this.#calls.leave();
    this.#reviews.leave();
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

  /** Takes the next step, and retries while the database is unavailable; false if nothing is left to do. */
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
    else if (step.type === "request") await this.#request(step.sawSeq);
    else if (step.type === "review") await this.#reviews.make(step.actions);
    else if (step.type === "ask to stop") await this.#askToStop();
    else if (step.type !== "note") {
      // What runs first may change the file that the project's rules are read from.
      if (step.type === "execute") await this.#rules.begun();
      if (step.type === "execute") await this.#executions.begin(step.actions);
      else if (this.#executions.isEmpty) return false;
      await this.#executions.next();
    }
    return true;
  }

  /** Asks the model, or has another agent work. */
  async #request(sawSeq: number): Promise<void> {
    const { acp } = this.#deps;
    await (acp === null ? this.#calls.make(sawSeq) : acp.step(this.#deps, this.#effects.signal, this.#rules));
  }

  /** The next step; stores the events of a step that ends the run. */
  async #next(): Promise<RunStep> {
    let step: RunStep = { type: "leave" };
    await storeEvents(this.#deps, this.#effects.signal, async () => {
      step = isWanted(this.#deps, this.#effects.signal)
        ? this.#withHooks(await this.#decide())
        : { type: "leave" };
      const { config } = this.#deps.configuration;
      if (step.type === "settle" && isFinish(step.drafts))
        return [...step.drafts, ...(await nextTurn(this.#deps.log, config))];
      return step.type === "settle" || step.type === "note" ? step.drafts : [];
    });
    return step;
  }

  /**
   * An answer after which nothing is left to do ends the run in the same commit, unless end hooks have to be asked.
   */
  #endWith(next: Readonly<ConversationState>): readonly EventDraft[] {
    const { gate } = this.#deps.hooks;
    if (gate?.guardsStop === true || !isWanted(this.#deps, this.#effects.signal)) return [];
    // The next message is read from the log first.
    if (next.held.length > 0) return [];
    return isDone(next) ? [statusUpdate("finished")] : [];
  }

  /** Adds the system prompt for a message that arrived while the tools were unavailable. */
  async #introduce(): Promise<void> {
    const session = await this.#deps.session.open();
    await storeEvents(this.#deps, this.#effects.signal, () =>
      isWanted(this.#deps, this.#effects.signal) ? firstEvents(session, this.#deps) : [],
    );
  }

  /** End hooks are called before a run ends as finished, once per model request. */
  #withHooks(step: Step): RunStep {
    if (step.type === "request") this.#mayStop = false;
    const isAsked = !this.#mayStop && this.#deps.hooks.gate?.guardsStop === true;
    return isAsked && step.type === "settle" && isFinish(step.drafts) ? { type: "ask to stop" } : step;
  }

  /** A hook that prevents the end gives a reason, and the model continues with it. */
  async #askToStop(): Promise<void> {
    const { signal } = this.#effects;
    const gated = await this.#deps.hooks.gate!.beforeStop(signal);
    this.#mayStop = !gated.isBlocked;
    await storeEvents(this.#deps, signal, () => {
      if (!isWanted(this.#deps, signal)) return [];
      const feedback = `This work may not end yet. ${gated.reason}`.trim();
      return gated.isBlocked ? [...gated.drafts, environmentMessage(feedback)] : gated.drafts;
    });
  }

  async #decide(): Promise<Step> {
    const { acp, budget, clock, configuration, log } = this.#deps;
    const { config } = configuration;
    const { approval_policy: approval, max_iterations: maxIterations, stuck_detection: isWatched } = config;
    // Slow checks decide only whether the model is called.
    const isAsking = asksModel(log.state);
    const refusal = isAsking ? await budget.refusal() : null;
    const recent = isAsking && isWatched && acp === null ? await log.recent() : [];
    const time = isAsking ? timeLimitOf(log.state, config) : null;
    return nextStep(log.state, {
      maxIterations,
      overTime: time !== null && clock.nowMs() >= time.deadlineMs ? time.detail : null,
      circling: findCircling(recent, log.state.runStartSeq, this.#eventTexts),
      overBudget: refusal,
      approvalDeadlineMs: deadlineOf(approval, clock.nowMs()),
      reviewable: await this.#reviews.due(),
    });
  }

  /** The last `seq` of the current model request; 0 without one. */
  get beingReadSeq(): number {
    return this.#calls.beingReadSeq;
  }

  /** True if the run has failed and the store rejected that record too. */
  get isUnrecorded(): boolean {
    return this.#isUnrecorded;
  }

  /** An unexpected error ends the run visibly; the log stays correct. */
  async #fail(thrown: unknown): Promise<void> {
    const error = storageFault(thrown) ?? damageFault(thrown) ?? thrown;
    const { id, logger, log } = this.#deps;
    if (error instanceof OwnedElsewhere) {
      logger.warn({ conversation: id, error: error.message }, "another process took the conversation over");
      return;
    }
    const fields = { conversation: id, error: String(thrown) };
    // A requested feature that is missing, such as a model without a provider, is no server fault.
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
