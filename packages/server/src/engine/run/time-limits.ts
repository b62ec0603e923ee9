import type { ConversationConfig } from "../conversation-config.ts";
import type { ConversationState } from "../state/conversation-state.ts";

export type TimeLimit = {
  /** Epoch milliseconds. */
  readonly deadlineMs: number;
  /** What the user reads when it is reached. */
  readonly detail: string;
};

/**
 * The time limit that the current run reaches first; null without one, and while nothing runs. Both limits count by the clock from the
 * event that started a run, also while the server is down; the time between runs does not count.
 */
export function timeLimitOf(
  state: Readonly<ConversationState>,
  { max_run_seconds: ofRun, max_conversation_seconds: ofAll }: ConversationConfig,
): TimeLimit | null {
  if (state.status !== "running") return null;
  const limits: TimeLimit[] = [];
  if (typeof ofRun === "number")
    limits.push({
      deadlineMs: state.runStartMs + ofRun * 1000,
      detail: `The run took longer than max_run_seconds (${ofRun}). Send a message or call run to continue.`,
    });
  if (typeof ofAll === "number")
    limits.push({
      deadlineMs: state.runStartMs + ofAll * 1000 - state.workedMs,
      detail:
        `The runs of this conversation took longer than max_conversation_seconds (${ofAll}). ` +
        "Raise it with POST .../limits to continue.",
    });
  return limits.toSorted((one, other) => one.deadlineMs - other.deadlineMs)[0] ?? null;
}
