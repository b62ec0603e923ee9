import { environmentMessage } from "../../agent/receive.ts";
import type { Verdict } from "../../agent/judge-goal.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import { Fault } from "../../lib/fault.ts";
import { startRun, stateUpdate, statusUpdate } from "../../events/state-update.ts";
import type { SendInput } from "../conversation-deps.ts";
import type { Decision } from "./decide.ts";
import type { Goal } from "../state/pursued-goal.ts";
import type { ConversationState } from "../state/conversation-state.ts";
import { alreadyRunning } from "../refusals.ts";

/** Stored in the log, so that a restart resumes it. */
function goalUpdate(goal: Goal): EventDraft {
  return stateUpdate("goal", goal);
}

/** A message that sets a goal: a judge is called after each run. Refused while a goal is active (409). */
export function goalMessage(objective: string, maxIterations: number): SendInput {
  const content = [{ type: "text" as const, text: objective, cache_prompt: false }];
  const message = { role: "user" as const, content, thinking_blocks: [] };
  return { message, wantsRun: true, goal: { objective, maxIterations } };
}

export function newGoal(state: ConversationState, objective: string, maxIterations: number): Goal {
  if (state.status === "running") throw alreadyRunning();
  return {
    active: true,
    status: "running",
    iteration: 1,
    max_iterations: maxIterations,
    objective,
    verdict: null,
  };
}

/** Ends the goal without a verdict: the user wrote, halted the work, or it failed. */
export function decideGoalStop({ goal }: ConversationState): Decision {
  if (goal?.active !== true) return { drafts: [] };
  return { drafts: [goalUpdate({ ...goal, active: false, status: "interrupted" })] };
}

/** Resumes an interrupted goal; does not approve pending actions. */
export function decideGoalResume(state: ConversationState): Decision {
  const { goal, status } = state;
  if (status === "running" || goal?.active === true) throw alreadyRunning();
  if (goal?.status !== "interrupted") {
    throw new Fault("conflict", "no_resumable_goal", "No goal of this conversation was interrupted.");
  }
  const isFree = status !== "waiting_for_confirmation";
  const resumed = goalUpdate({ ...goal, active: true, status: "running" });
  return { drafts: [resumed, ...(isFree ? [startRun([])] : [])] };
}

/** The result of a verdict: the end, or another round. */
export function afterVerdict(goal: Goal, verdict: Verdict | null): EventDraft[] {
  const judged = { ...goal, verdict };
  if (verdict === null) return [goalUpdate({ ...judged, active: false, status: "interrupted" })];
  if (verdict.complete) return [goalUpdate({ ...judged, active: false, status: "complete" })];
  if (goal.iteration >= goal.max_iterations)
    return [goalUpdate({ ...judged, active: false, status: "capped" })];
  return [
    goalUpdate({ ...judged, iteration: goal.iteration + 1 }),
    statusUpdate("idle"),
    environmentMessage(followUp(goal, verdict), { wantsRun: true }),
    startRun([]),
  ];
}

function followUp({ objective }: Goal, { missing }: Verdict): string {
  const open = missing.trim() === "" ? "" : `\nStill missing: ${missing.trim()}`;
  return `The objective is not reached yet: ${objective}${open}\nGo on with the work, and check the result before you finish.`;
}
