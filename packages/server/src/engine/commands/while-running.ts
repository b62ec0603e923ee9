import type { WhileRunning } from "@convoke/protocol";
import { agentError, rejection } from "../../events/call-answers.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import { Fault } from "../../lib/fault.ts";
import type { ConversationState } from "../state/conversation-state.ts";
import { queuedMessages } from "../state/queued-messages.ts";
import { decideInterrupt, decideSend, messageDraft, type Decision, type SendCommand } from "./decide.ts";
import { holdMessage, releaseHeld } from "./held-messages.ts";
import { withdrawMessage } from "./queue.ts";

/** The work in progress when a message comes. */
export type Work = {
  readonly isWorking: boolean;
  readonly answerText: string;
  /** The last `seq` that a model request in progress has. */
  readonly beingReadSeq: number;
};

/** True while a run is in progress or waits for an approval. */
export function isAtWork({ status }: Pick<ConversationState, "status">): boolean {
  return status === "running" || status === "waiting_for_confirmation";
}

/** Fails while the agent works (409). */
export function refuseAtWork(state: Pick<ConversationState, "status">): void {
  if (!isAtWork(state)) return;
  throw new Fault(
    "conflict",
    "agent_at_work",
    `The agent works (${state.status}), and the message was to be rejected then. Nothing was stored. Send it again when the run has ended.`,
  );
}

/** Stores a message as `mode` says; while the agent does not work, all modes but `replace` are the same. */
export function decideMessage(
  state: ConversationState,
  mode: WhileRunning,
  command: SendCommand,
  work: Work,
): Decision {
  if (mode === "replace") return decideReplacement(state, command, work);
  if (!isAtWork(state)) return decideSend(state, command);
  switch (mode) {
    case "reject":
      refuseAtWork(state);
      return { drafts: [] };
    case "queue":
      return { drafts: [...command.admitted.records, holdMessage(state, messageDraft(command))] };
    case "interrupt":
      return decideInterruption(state, command, work);
    case "steer":
      return decideSend(state, command);
  }
}

/** One commit stops the step in progress, answers the open calls, and continues with the message. */
function decideInterruption(state: ConversationState, command: SendCommand, work: Work): Decision {
  const marker = { kind: "InterruptEvent", source: "user" } as const;
  const isWaiting = state.status === "waiting_for_confirmation";
  const drafts = isWaiting ? stopWaiting(state) : decideInterrupt(state, marker, work).drafts;
  const halted: ConversationState = { ...state, status: isWaiting ? "idle" : "paused" };
  const sent = decideSend(halted, { ...command, wantsRun: true });
  return { drafts: [...drafts, ...sent.drafts], isAbort: true };
}

/** Calls that wait for an approval have not started. */
function stopWaiting(state: ConversationState): EventDraft[] {
  return state.openActions.map((action) =>
    action.gate === "awaiting"
      ? rejection(action, "Not run: the user sent a message instead of an answer.")
      : agentError(action, "Interrupted by a message of the user before it finished."),
  );
}

/** The sender's unread messages are withdrawn. The new one is read as the newest of them would have been. */
function decideReplacement(state: ConversationState, command: SendCommand, work: Work): Decision {
  const isOwn = (message: { readonly sender?: string }): boolean =>
    (message.sender ?? null) === command.sender;
  const unread = queuedMessages(state, work.beingReadSeq).filter(isOwn);
  const held = state.held.filter(isOwn);
  const withdrawn = [
    ...unread.map(({ id }) => withdrawMessage(id)),
    ...held.map(({ id }) => releaseHeld(id, "replaced")),
  ];
  const left = { ...state, held: state.held.filter((message) => !isOwn(message)) };
  const isQueued = (held.at(-1)?.seq ?? 0) > (unread.at(-1)?.seq ?? 0);
  const others = (command.before ?? []).filter(({ id }) => left.held.some((message) => message.id === id));
  const { drafts } = decideMessage(left, isQueued ? "queue" : "steer", { ...command, before: others }, work);
  return { drafts: [...withdrawn, ...drafts] };
}
