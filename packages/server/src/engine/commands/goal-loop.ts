import { buildHistory } from "../../agent/history.ts";
import { judgeGoal, type Judged } from "../../agent/judge-goal.ts";
import { ended } from "../../lib/ended.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Mailbox } from "../../lib/mailbox.ts";
import type { Model } from "../../models/model.ts";
import type { ConversationLog } from "../conversation-log.ts";
import type { Decision } from "./decide.ts";
import type { Goal } from "../state/pursued-goal.ts";
import { afterVerdict, decideGoalStop } from "./goal.ts";
import { describeError } from "../../lib/describe-error.ts";

export type GoalLoopDeps = {
  readonly conversationId: string;
  readonly log: ConversationLog;
  readonly post: Mailbox["post"];
  readonly commit: (decision: Decision) => Promise<unknown>;
  /** Opens the model of the judge. */
  readonly openModel: () => Model;
  readonly logger: Logger;
};

/** Asks a judge whenever the work on a goal has come to an end, and sends the agent back. The goal itself is in the log. */
export class GoalLoop {
  readonly #deps: GoalLoopDeps;
  readonly #stop = new AbortController();
  #round: Promise<void> | null = null;

  constructor(deps: GoalLoopDeps) {
    this.#deps = deps;
  }

  /** True while the judge is asked. */
  get isBusy(): boolean {
    return this.#round !== null;
  }

  /** To be called when a run has ended, and after a restart. */
  check(): void {
    if (this.#round !== null || this.#stop.signal.aborted || this.#dueGoal() === null) return;
    this.#round = this.#next().finally(() => (this.#round = null));
  }

  /** Resolves when nothing is in progress any more. */
  async close(): Promise<void> {
    this.#stop.abort(ended);
    await this.#round;
  }

  /** The goal, once nothing goes on for it; a call that waits for its user is not the end of the work. */
  #dueGoal(): Goal | null {
    const { goal, status } = this.#deps.log.state;
    const isOver = status !== "running" && status !== "waiting_for_confirmation";
    return goal?.active === true && isOver ? goal : null;
  }

  async #next(): Promise<void> {
    const { commit, conversationId, log, logger, post } = this.#deps;
    try {
      const view = await post(async () => {
        if (this.#dueGoal() === null) return null;
        const isJudged = log.state.status === "finished" || log.state.status === "stuck";
        if (isJudged) return [...(await log.view())];
        await commit(decideGoalStop(log.state));
        return null;
      });
      const goal = this.#dueGoal();
      if (view === null || goal === null) return;
      const judged = await judgeGoal(
        goal.objective,
        buildHistory(view),
        this.#deps.openModel(),
        this.#stop.signal,
      );
      if (judged !== null) await post(() => this.#conclude(goal, judged));
    } catch (error) {
      // The conversation stands as it stood; the goal is judged after the next run or start.
      logger.warn({ conversation: conversationId, error: describeError(error) }, "a goal was not judged");
    }
  }

  async #conclude(goal: Goal, { verdict, failure }: Judged): Promise<void> {
    const { commit, conversationId, logger } = this.#deps;
    if (failure !== null)
      logger.warn({ conversation: conversationId, error: failure }, "no model judged a goal");
    // Whoever wrote, halted or stopped the goal meanwhile has decided about it.
    const isSame = JSON.stringify(this.#dueGoal()) === JSON.stringify(goal);
    if (isSame) await commit({ drafts: afterVerdict(goal, verdict) });
  }
}
