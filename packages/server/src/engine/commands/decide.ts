import type { Message } from "@convoke/protocol";
import { Fault } from "../../lib/fault.ts";
import type { Activation } from "../../extensions/skills/skill-set.ts";
import type { Admitted } from "../hook-gate.ts";
import type { Goal } from "../state/pursued-goal.ts";
import { hasUnseenInput, type ConversationState } from "../state/conversation-state.ts";
import { agentError, rejection } from "../../events/call-answers.ts";
import type { EventBody, EventDraft } from "../../events/event-draft.ts";
import { endRetry, startRun, stateUpdate, statusUpdate } from "../../events/state-update.ts";
import { warning } from "../../events/warning.ts";

/** What a command leads to: events that commit together, and whether the run in progress must be cut off. */
export type Decision = { readonly drafts: readonly EventDraft[]; readonly isAbort?: boolean };

const nothing: Decision = { drafts: [] };

export type SendCommand = {
  readonly message: Message;
  readonly wantsRun: boolean;
  /** The goal that the message sets; any other message ends the one that is pursued. */
  readonly goal: Goal | null;
  readonly sender: string | null;
  /** The system prompt, and what goes with it; added when the log has none yet. */
  readonly opening: () => readonly EventDraft[];
  /** Skills that the message brings up. */
  readonly activation: Activation;
  /** What hooks have to say about it. */
  readonly admitted: Admitted;
  /** What the agent reads behind every message of its user; empty for nothing. */
  readonly suffix: string;
};

/** A message is logged in every status; it never approves anything (W2) and never strands (W3). */
export function decideSend(state: ConversationState, command: SendCommand): Decision {
  const drafts: EventDraft[] = [];
  if (state.systemPromptSeq === null) drafts.push(...command.opening());
  const isReopened = state.status === "finished" || state.status === "stuck";
  if (isReopened) drafts.push(statusUpdate("idle"));
  drafts.push(...command.admitted.records);
  if (command.goal !== null) drafts.push(stateUpdate("goal", command.goal));
  else if (state.goal?.active === true)
    drafts.push(stateUpdate("goal", { ...state.goal, active: false, status: "interrupted" }));
  const { activation, admitted, suffix } = command;
  const extended = [...activation.texts, ...(suffix === "" ? [] : [suffix]), ...admitted.contexts];
  drafts.push({
    body: {
      kind: "MessageEvent",
      source: "user",
      llm_message: command.message,
      activated_skills: [...activation.names],
      extended_content: extended.map((item) => ({ type: "text", text: item })),
      ...(command.sender === null ? {} : { sender: command.sender }),
    },
    meta: { wantsRun: command.wantsRun },
  });
  drafts.push({
    body: (messageId) => ({
      kind: "ConversationStateUpdateEvent",
      source: "environment",
      key: "last_user_message_id",
      value: messageId,
    }),
  });
  const startsRun =
    command.wantsRun && state.status !== "running" && state.status !== "waiting_for_confirmation";
  if (startsRun) drafts.push(startRun([]));
  return { drafts };
}

/** Starts, resumes or approves. Running already is a conflict; finished with nothing new is not an error and does nothing. */
export function decideRun(state: ConversationState): Decision {
  if (state.status === "running") {
    throw new Fault(
      "conflict",
      "already_running",
      "The conversation is already running. Wait until it ends, or pause or interrupt it first.",
    );
  }
  if (state.status === "finished" && !hasUnseenInput(state) && state.openActions.length === 0) return nothing;
  // Only what the user saw waiting is approved by a run; after a pause the gate asks first (W2).
  return { drafts: [startRun(state.status === "waiting_for_confirmation" ? state.openActions : [])] };
}

export function decideAccept(state: ConversationState): Decision {
  if (state.status === "running") return nothing;
  return state.openActions.length === 0 ? decideRun(state) : { drafts: [startRun(state.openActions)] };
}

/** Rejects waiting actions, or those that an ended run left open. A run that was requested meanwhile continues with the rejection. */
export function decideReject(
  state: ConversationState,
  reason: string,
  /** Already at work after a pause: they have no answer yet, and their own results are the true ones. */
  executing: ReadonlySet<string> = new Set(),
): Decision {
  if (state.status === "running") return nothing;
  const drafts: EventDraft[] = [];
  const isWaiting = state.status === "waiting_for_confirmation";
  if (isWaiting) drafts.push(statusUpdate("idle"));
  for (const action of state.openActions) {
    if (executing.has(action.id)) continue;
    drafts.push(rejection(action, reason));
  }
  if (isWaiting && state.runWantedSeq > 0) drafts.push(startRun([]));
  return { drafts };
}

/** Takes effect before the next tool starts; the model call or tool in progress settles and is recorded. */
export function decidePause(state: ConversationState): Decision {
  if (state.status !== "running" && state.status !== "idle") return nothing;
  return {
    drafts: [statusUpdate("paused"), ...endRetry(state), { body: { kind: "PauseEvent", source: "user" } }],
  };
}

/** A pause that nobody asked for: the run's own process has ended. What was open stays open and is asked about like behind any pause. */
export function decideAbandoned(state: ConversationState): Decision {
  const detail =
    "The run was interrupted: the command that it belonged to has ended. Send a message or call run to continue.";
  return {
    drafts: [
      statusUpdate("paused"),
      ...endRetry(state),
      { body: { kind: "PauseEvent", source: "environment" } },
      warning({ code: "run_interrupted", detail }),
    ],
  };
}

/**
 * Cuts off the model call and the tools now, keeps the text that the model has sent so far (L23.19), and answers every open
 * action. Without work in progress it is a pause.
 */
export function decideInterrupt(
  state: ConversationState,
  marker: EventBody,
  { isWorking, answerText = "" }: { readonly isWorking: boolean; readonly answerText?: string },
): Decision {
  if (state.status !== "running" && !isWorking) return decidePause(state);
  return {
    drafts: [
      ...(answerText.trim() === "" ? [] : [interruptedMessage(answerText)]),
      ...state.openActions.map((action) => agentError(action, interruptedText)),
      ...(state.status === "paused" ? [] : [statusUpdate("paused")]),
      ...endRetry(state),
      { body: marker },
    ],
    isAbort: true,
  };
}

/** Without what its request had seen: the messages before it are still to be answered. */
function interruptedMessage(answerText: string): EventDraft {
  return {
    body: {
      kind: "MessageEvent",
      source: "agent",
      llm_message: {
        role: "assistant",
        content: [{ type: "text", text: answerText, cache_prompt: false }],
        thinking_blocks: [],
      },
      activated_skills: [],
      extended_content: [],
    },
    meta: { isInterrupted: true },
  };
}

const interruptedText =
  "Interrupted by the user before it finished. What it had done until then may remain; check before repeating it.";
