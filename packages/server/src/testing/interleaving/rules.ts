import type { ModelRequest } from "../../models/model.ts";
import type { Execution } from "./gated-session.ts";
import type { LogReading } from "./log-reading.ts";

/** Status of the conversation that is not in the log. */
export type LiveStatus = {
  readonly status: string;
  readonly isBusy: boolean;
  readonly openCommandCount: number;
};

/** The rules of a world at every moment; `violations` describes broken ones. */
export class Rules {
  readonly violations: string[] = [];
  readonly #log: LogReading;
  readonly #starts = new Map<string, number>();
  #executions: Execution[] = [];
  #wasCutOff = false;
  /** State of the log when the last interrupt or stop was acknowledged. */
  #cutOff: { readonly command: string; readonly runCount: number; readonly actionCount: number } | null =
    null;

  constructor(log: LogReading) {
    this.#log = log;
  }

  violate(text: string): void {
    this.violations.push(text);
  }

  /** A tool starts: its action is durable, approved and unanswered, the run is wanted, and it never started before. */
  onStart(execution: Execution): void {
    this.#executions.push(execution);
    const { actionId } = execution;
    const action = this.#log.actions.get(actionId);
    const count = (this.#starts.get(actionId) ?? 0) + 1;
    this.#starts.set(actionId, count);
    if (count > 1) this.violate(`${actionId} ran ${count} times (P6)`);
    if (action === undefined) this.violate(`${actionId} started before it was durable`);
    else if (action.isAwaiting) this.violate(`${actionId} started without approval (W2)`);
    else if (action.answers.length > 0) this.violate(`${actionId} started after ${action.answers.join()}`);
    if (this.#log.status !== "running") {
      this.violate(`${actionId} started while ${this.#log.status} (P43)`);
    }
  }

  onRequest({ messages }: ModelRequest): void {
    if (this.#log.status !== "running") this.violate(`the model was asked while ${this.#log.status} (P43)`);
    if (JSON.stringify(messages).includes("(no result yet)")) {
      this.violate("the model was asked without a result");
    }
  }

  /** An interrupt or a stop was acknowledged: nothing runs any more. */
  onCutOff(command: string): void {
    this.#wasCutOff = true;
    this.#cutOff = { command, runCount: this.#log.runCount, actionCount: this.#log.actions.size };
    for (const { actionId, signal, outcome } of this.#executions) {
      if (outcome === null && !signal.aborted) this.violate(`${command} left ${actionId} running (P43)`);
    }
  }

  onCrash(): void {
    this.#wasCutOff = true;
    this.#executions = [];
  }

  /** A message was acknowledged: it is in the log once, however often it was sent. */
  onSent(text: string): void {
    const count = this.#log.userMessages.filter((sent) => sent === text).length;
    if (count !== 1) this.violate(`${text} is in the log ${count} times (P18)`);
  }

  /** Checked between any two steps. */
  checkMoment({ status, isBusy, openCommandCount }: LiveStatus): void {
    for (const [id, { answers, toolName }] of this.#log.actions) {
      if (answers.length > 1) this.violate(`${id} has the answers ${answers.join()} (P6)`);
      if (answers.includes("UserRejectObservation") && this.#starts.has(id)) {
        this.violate(`${toolName} ${id} ran and is logged as rejected`);
      }
    }
    const { runCount, actions } = this.#log;
    if (this.#cutOff?.runCount === runCount && actions.size > this.#cutOff.actionCount) {
      this.violate(`an answer was stored after ${this.#cutOff.command} (P43)`);
    }
    // While a command is pending the next run may be queued behind it.
    if (openCommandCount === 0 && status === "running" && !isBusy) {
      this.violate("it is running without a run (P2)");
    }
  }

  /** Checked when nothing is pending any more. */
  checkRest({ isBusy, openCommandCount }: LiveStatus): void {
    const { status, actions, unansweredCount } = this.#log;
    if (openCommandCount > 0) this.violate("a command is never acknowledged");
    if (status === "running" || isBusy) this.violate("a run does nothing and does not end (P2)");
    if ((status === "idle" || status === "finished") && unansweredCount > 0) {
      this.violate(`it is ${status}, and ${unansweredCount} messages are never answered (P26)`);
    }
    if (status === "finished") this.#checkAnswered();
    for (const { actionId, outcome } of this.#wasCutOff ? [] : this.#executions) {
      const isRecorded = actions.get(actionId)?.answers.includes("ObservationEvent") === true;
      if (outcome?.type === "observation" && !isRecorded) this.violate(`the result of ${actionId} is lost`);
    }
  }

  /** Checked after a last ordinary run (P2). */
  checkEnd(): void {
    if (this.#log.status !== "finished") this.violate(`a last run leads to ${this.#log.status}`);
    this.#checkAnswered();
  }

  #checkAnswered(): void {
    for (const [id, { answers }] of this.#log.actions) {
      if (answers.length !== 1) this.violate(`action ${id} has ${answers.length} answers at the end (P6)`);
    }
  }
}
