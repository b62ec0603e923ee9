import { circlingHint } from "../../agent/stuck.ts";
import { environmentMessage } from "../../agent/receive.ts";
import { failRun, statusUpdate } from "../../events/state-update.ts";
import { hasUnseenInput, type ConversationState, type OpenAction } from "../state/conversation-state.ts";
import type { EventDraft } from "../../events/event-draft.ts";

/**
 * The next step of a run. `execute` names every open action, including running ones, `review` those that wait for the reviewer. `leave`: a client halted the
 * run; `settle`: the run ends with these events; `note`: it continues after them.
 */
export type Step =
  | { readonly type: "execute"; readonly actions: readonly OpenAction[] }
  | { readonly type: "request"; readonly sawSeq: number }
  | { readonly type: "review"; readonly actions: readonly OpenAction[] }
  | { readonly type: "settle"; readonly drafts: readonly EventDraft[] }
  | { readonly type: "note"; readonly drafts: readonly EventDraft[] }
  | { readonly type: "leave" };

export type StepLimits = {
  readonly maxIterations: number;
  /** Whether the agent repeats itself without progress: first it gets a hint, then the run ends. */
  readonly circling: "no" | "hint" | "stuck";
  /** The exhausted budget; null while there is money. */
  readonly overBudget?: string | null;
  /** The time limit that has passed; null while there is time. */
  readonly overTime?: string | null;
  /** Approval deadline in epoch milliseconds, if the next actions need approval. */
  readonly approvalDeadlineMs?: number | null;
  /** Actions that wait, about which the reviewer is to be asked before a person is. */
  readonly reviewable?: readonly OpenAction[];
};

/**
 * The turn machine's only transition function. It reads only the fold of the log, so that a restart, a resume and
 * the next turn of a run are the same. Order matters: the model is not called while an action is open.
 */
export function nextStep(state: ConversationState, limits: StepLimits): Step {
  if (state.status !== "running") return { type: "leave" };
  if (state.openActions.some((action) => action.gate === "awaiting")) {
    const { reviewable = [] } = limits;
    if (reviewable.length > 0) return { type: "review", actions: reviewable };
    const deadlineMs = limits.approvalDeadlineMs ?? null;
    const meta = deadlineMs === null ? {} : { meta: { deadlineMs } };
    return { type: "settle", drafts: [{ ...statusUpdate("waiting_for_confirmation"), ...meta }] };
  }
  if (state.openActions.length > 0) return { type: "execute", actions: state.openActions };
  if (isDone(state)) return { type: "settle", drafts: [statusUpdate("finished")] };
  if (limits.circling === "stuck") return { type: "settle", drafts: [statusUpdate("stuck")] };
  if (limits.circling === "hint") return { type: "note", drafts: [environmentMessage(circlingHint)] };
  const { overBudget = null } = limits;
  if (overBudget !== null) return { type: "settle", drafts: failRun("MaxBudgetReached", overBudget) };
  const { overTime = null } = limits;
  if (overTime !== null) return { type: "settle", drafts: failRun("MaxRunTimeReached", overTime) };
  if (state.iterations >= limits.maxIterations) {
    return {
      type: "settle",
      drafts: failRun(
        "MaxIterationsReached",
        `The agent made ${state.iterations} model calls in this run, the limit is ${limits.maxIterations}. ` +
          "Send a message or call run to continue.",
      ),
    };
  }
  return { type: "request", sawSeq: state.lastSeq };
}

/** True if only the limits of a run prevent the next model call. */
export function asksModel(state: ConversationState): boolean {
  return state.status === "running" && state.openActions.length === 0 && hasUnseenInput(state);
}

/** True if a run has nothing left to do: no open call, and the model has read everything. */
export function isDone(state: ConversationState): boolean {
  return state.status === "running" && state.openActions.length === 0 && !hasUnseenInput(state);
}
