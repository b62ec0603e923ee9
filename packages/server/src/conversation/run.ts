import { findCircling } from "../agent/stuck.ts";
import { Fault } from "../lib/fault.ts";
import { Executions } from "./executions.ts";
import { ModelCalls } from "./model-calls.ts";
import { failRun, nextStep, type Step } from "./next-step.ts";
import { ownedElsewhere } from "./refusals.ts";
import { isWanted, messageOf, type RunDeps } from "./run-deps.ts";
import { storeEvents } from "./store-events.ts";

/** One pass of the turn machine after another until the log says that the run is over. Effects only: decisions are in `nextStep`. */
export class Run {
  /** Resolves when nothing of this run is in progress any more; never rejects. */
  readonly ended: Promise<void>;
  readonly #deps: RunDeps;
  readonly #effects = new AbortController();
  readonly #calls: ModelCalls;
  readonly #executions: Executions;

  constructor(deps: RunDeps) {
    this.#deps = deps;
    this.#calls = new ModelCalls(deps, this.#effects.signal);
    this.#executions = new Executions(deps, this.#effects.signal);
    this.ended = this.#drive();
  }

  /** True while a model call or a tool is in progress that nobody has cut off. */
  get isWorking(): boolean {
    return (this.#calls.isOpen || this.#executions.executing.size > 0) && !this.#isLeaving;
  }

  /** The actions that tools work on at this moment; they may have had effects already. */
  get executing(): ReadonlySet<string> {
    return this.#executions.executing;
  }

  /** Cuts off the model call and the tools in progress; what a tool has done until now is recorded where its action is still open. */
  abort(): void {
    this.#effects.abort();
  }

  get #isLeaving(): boolean {
    return this.#effects.signal.aborted;
  }

  async #drive(): Promise<void> {
    try {
      for (;;) {
        const step = await this.#next();
        if (step.type === "request") await this.#calls.make(step.sawSeq);
        else if (step.type !== "note") {
          if (step.type === "execute") await this.#executions.begin(step.actions);
          else if (this.#executions.isEmpty) return;
          await this.#executions.next();
        }
      }
    } catch (error) {
      await this.#executions.all();
      await this.#fail(error);
    }
  }

  /** The next step; the events of a step that ends the run are stored first. */
  async #next(): Promise<Step> {
    let step: Step = { type: "leave" };
    await storeEvents(this.#deps, this.#effects.signal, async () => {
      step = isWanted(this.#deps, this.#effects.signal) ? await this.#decide() : { type: "leave" };
      return step.type === "settle" || step.type === "note" ? step.drafts : [];
    });
    return step;
  }

  async #decide(): Promise<Step> {
    const { config, log, nowMs, overBudget } = this.#deps;
    const { approval_policy: approval, max_iterations: maxIterations, stuck_detection: isWatched } = config();
    return nextStep(log.state, {
      maxIterations,
      circling: isWatched ? findCircling(await log.view(), log.state.runStartSeq) : "no",
      overBudget: overBudget(),
      approvalDeadlineMs: approval ? nowMs() + approval.timeout_seconds * 1000 : null,
    });
  }

  /** Up to here the model reads at this moment; 0 when it is not asked. */
  get beingReadSeq(): number {
    return this.#calls.beingReadSeq;
  }

  /** An unexpected failure ends the run visibly; the log stays true. */
  async #fail(error: unknown): Promise<void> {
    const { conversationId, logger, log } = this.#deps;
    if (error instanceof Fault && error.code === ownedElsewhere().code) {
      logger.warn(
        { conversation: conversationId, error: error.message },
        "another process took the conversation over",
      );
      return;
    }
    logger.error({ conversation: conversationId, error: String(error) }, "run failed");
    try {
      await storeEvents(this.#deps, this.#effects.signal, () =>
        log.state.status === "running"
          ? failRun(error instanceof Fault ? error.code : "InternalError", messageOf(error))
          : [],
      );
    } catch (failure) {
      logger.error(
        { conversation: conversationId, error: String(failure) },
        "the failure could not be recorded",
      );
    }
  }
}
