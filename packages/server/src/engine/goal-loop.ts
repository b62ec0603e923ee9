import { buildHistory } from "../agent/history.ts";
import { judgeGoal, type Judged } from "../agent/judge-goal.ts";
import { ended } from "../lib/ended.ts";
import type { SharedParts } from "./shared-parts.ts";
import type { Writer } from "./writer.ts";
import type { Goal } from "./state/pursued-goal.ts";
import { afterVerdict, decideGoalResume, decideGoalStop } from "./commands/goal.ts";
import { describeError } from "../lib/describe-error.ts";

export type GoalLoopDeps = Pick<SharedParts, "id" | "log" | "logger" | "models" | "queue"> & {
  readonly writer: Pick<Writer, "command" | "commit">;
};

/** Asks a judge after each run towards a goal, and starts the next run. The goal itself is in the log. */
export class GoalLoop {
  readonly #deps: GoalLoopDeps;
  readonly #stop = new AbortController();
  #round: Promise<void> | null = null;

  constructor(deps: GoalLoopDeps) {
    this.#deps = deps;
  }

  /** True while the judge is called. */
  get isBusy(): boolean {
    return this.#round !== null;
  }

  /** Ends the active goal, if there is one; a run in progress finishes. */
  async stop(): Promise<void> {
    await this.#deps.writer.command(decideGoalStop);
  }

  /** Resumes an interrupted goal; fails during a run and without a goal (409). */
  async resume(): Promise<void> {
    await this.#deps.writer.command(decideGoalResume);
  }

  /** Call when a run has ended, and after a restart. */
  check(): void {
    if (this.#round !== null || this.#stop.signal.aborted || this.#dueGoal() === null) return;
    this.#round = this.#next().finally(() => (this.#round = null));
  }

  /** Resolves when nothing is in progress any more. */
  async close(): Promise<void> {
    this.#stop.abort(ended);
    await this.#round;
  }

  /** The goal, once no run is in progress for it; a pending approval does not end the work. */
  #dueGoal(): Goal | null {
    const { goal, status } = this.#deps.log.state;
    const isOver = status !== "running" && status !== "waiting_for_confirmation";
    return goal?.active === true && isOver ? goal : null;
  }

  async #next(): Promise<void> {
    const { id, log, logger, models, queue, writer } = this.#deps;
    try {
      const view = await queue.post(async () => {
        if (this.#dueGoal() === null) return null;
        const isJudged = log.state.status === "finished" || log.state.status === "stuck";
        if (isJudged) return [...(await log.view())];
        await writer.commit(decideGoalStop(log.state));
        return null;
      });
      const goal = this.#dueGoal();
      if (view === null || goal === null) return;
      const judged = await judgeGoal(
        goal.objective,
        buildHistory(view),
        models.openHelper("goal-judge-llm"),
        this.#stop.signal,
      );
      if (judged !== null) await queue.post(() => this.#conclude(goal, judged));
    } catch (error) {
      // The state is unchanged; the goal is judged after the next run or start.
      logger.warn({ conversation: id, error: describeError(error) }, "a goal was not judged");
    }
  }

  async #conclude(goal: Goal, { verdict, failure }: Judged): Promise<void> {
    const { id, logger, writer } = this.#deps;
    if (failure !== null) logger.warn({ conversation: id, error: failure }, "no model judged a goal");
    // A message, a halt or the end of the goal takes precedence.
    const isSame = JSON.stringify(this.#dueGoal()) === JSON.stringify(goal);
    if (isSame) await writer.commit({ drafts: afterVerdict(goal, verdict) });
  }
}
