import type { ConversationExecutionStatus } from "@convoke/protocol";
import type { AcpFailure } from "../../extensions/acp/acp-failure.ts";
import type { PromptEnd } from "../../extensions/acp/external-agent.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import { failRun, startRun, statusUpdate } from "../../events/state-update.ts";

export type EndContext = {
  /** The prompt was cancelled by us: what halted it has set the status. */
  readonly isCut: boolean;
  readonly status: ConversationExecutionStatus;
  /** A message has asked for a run meanwhile. */
  readonly isWanted: boolean;
};

/** What the end of a prompt means for the run; nothing where the run ends or goes on by itself. */
export function endOfPrompt(
  end: PromptEnd | AcpFailure,
  { isCut, status, isWanted }: EndContext,
): readonly EventDraft[] {
  const isWaiting = status === "waiting_for_confirmation";
  if (status !== "running" && !isWaiting) return [];
  if (isCut) return isWaiting ? [statusUpdate("paused")] : [];
  if (end instanceof Error) return failRun(end.code, end.message);
  switch (end.stopReason) {
    case "refusal":
      return failRun(
        "ACPRefusal",
        "The agent refused to go on with this. Say it in another way, or begin again.",
      );
    case "max_tokens":
      return failRun(
        "ACPOutputLimit",
        "The agent reached the limit of its output. Send a message to continue.",
      );
    case "max_turn_requests":
      return failRun(
        "MaxIterationsReached",
        "The agent reached its own limit of steps. Send a message to continue.",
      );
    case "cancelled":
      return failRun(
        "ACPPromptError",
        "The agent cancelled the prompt by itself. Send a message to try again.",
      );
    default:
      if (!isWaiting) return [];
      return isWanted ? [startRun([])] : [statusUpdate("finished")];
  }
}
