import type { Message } from "@convoke/protocol";
import { Fault } from "../../lib/fault.ts";
import type { Activation } from "../../extensions/skills/skill-set.ts";
import type { Admitted } from "../hook-gate.ts";
import type { Goal } from "../state/pursued-goal.ts";
import { hasUnseenInput, type ConversationState } from "../state/conversation-state.ts";
import { agentError, rejection } from "../../events/call-answers.ts";
import type { EventBody, EventDraft } from "../../events/event-draft.ts";
import { endRetry, failRun, startRun, stateUpdate, statusUpdate } from "../../events/state-update.ts";
import { warning } from "../../events/warning.ts";
import { deliverHeld, lastMessageDraft, type MessageDraft, type StoredHeld } from "./held-messages.ts";
import { alreadyRunning } from "../refusals.ts";

/** The result of a command: events that commit together, and whether the current run is aborted. */
export type Decision = { readonly drafts: readonly EventDraft[]; readonly isAbort?: boolean };

const nothing: Decision = { drafts: [] };

export type SendCommand = {
  readonly message: Message;
  readonly wantsRun: boolean;
  /** The goal that the message sets; any other message ends the active goal. */
  readonly goal: Goal | null;
  readonly sender: string | null;
  /** JSON Schema of the answer to the message. */
  readonly responseSchema?: Readonly<Record<string, unknown>> | null;
  /** The system prompt and its companions; added if the log has none yet. */
  readonly opening: () => readonly EventDraft[];
  /** Skills that the message triggers. */
  readonly activation: Activation;
  /** Records and context of hooks for the message. */
  readonly admitted: Admitted;
  /** Text after every user message; empty for none. */
  readonly suffix: string;
  /** Messages that waited for the end of the run: they come before this one. */
  readonly before?: readonly StoredHeld[];
};

/** A message is logged in every status; it never approves anything (W2) and is never lost (W3). */
export function decideSend(state: ConversationState, command: SendCommand): Decision {
  const drafts: EventDraft[] = [];
  if (state.systemPromptSeq === null) drafts.push(...command.opening());
  const isReopened = state.status === "finished" || state.status === "stuck";
  if (isReopened) drafts.push(statusUpdate("idle"));
  drafts.push(...command.admitted.records, ...deliverHeld(command.before ?? []));
  if (command.goal !== null) drafts.push(stateUpdate("goal", command.goal));
  else if (state.goal?.active === true)
    drafts.push(stateUpdate("goal", { ...state.goal, active: false, status: "interrupted" }));
  drafts.push(messageDraft(command), lastMessageDraft);
  const startsRun =
    command.wantsRun && state.status !== "running" && state.status !== "waiting_for_confirmation";
  if (startsRun) drafts.push(startRun([]));
  return { drafts };
}

/** A message as the log stores it. */
export function messageDraft(command: SendCommand): MessageDraft {
  const { activation, admitted, suffix } = command;
  const extended = [...activation.texts, ...(suffix === "" ? [] : [suffix]), ...admitted.contexts];
  return {
    body: {
      kind: "MessageEvent",
      source: "user",
      llm_message: command.message,
      activated_skills: [...activation.names],
      extended_content: extended.map((item) => ({ type: "text", text: item })),
      ...(command.sender === null ? {} : { sender: command.sender }),
    },
    meta: {
      wantsRun: command.wantsRun,
      ...(command.responseSchema ? { responseSchema: command.responseSchema } : {}),
    },
  };
}

/** Starts, resumes or approves. Running already is a conflict; finished without new messages is a no-op. */
export function decideRun(state: ConversationState): Decision {
  if (state.status === "running") throw alreadyRunning();
  if (state.status === "finished" && !hasUnseenInput(state) && state.openActions.length === 0) return nothing;
  // A run approves only actions that were pending for the user; after a pause approval is requested first (W2).
  return { drafts: [startRun(state.status === "waiting_for_confirmation" ? state.openActions : [])] };
}

/** Repeated while its run goes on, it changes nothing: what it asks for is what happens. */
export function decideAccept(state: ConversationState): Decision {
  if (state.status === "running") return nothing;
  return state.openActions.length === 0 ? decideRun(state) : { drafts: [startRun(state.openActions)] };
}

/**
 * Rejects pending actions, or open ones of an ended run. A run that was requested meanwhile continues with the
 * rejection. During a run nothing waits, and a rejection that changed nothing would look like one.
 */
export function decideReject(
  state: ConversationState,
  reason: string,
  /** Still running after a pause: they get their own results instead. */
  executing: ReadonlySet<string> = new Set(),
): Decision {
  if (state.status === "running") {
    throw new Fault(
      "conflict",
      "already_running",
      "The conversation is running, and no action waits for an answer: it was answered already, or needed none. Interrupt the run to stop it.",
    );
  }
  const drafts: EventDraft[] = [];
  const isWaiting = state.status === "waiting_for_confirmation";
  // Another agent continues after a rejection.
  const goesOn = state.acp.isPrompting;
  if (isWaiting && !goesOn) drafts.push(statusUpdate("idle"));
  for (const action of state.openActions) {
    if (executing.has(action.id)) continue;
    drafts.push(rejection(action, reason));
  }
  if (isWaiting && (goesOn || state.runWantedSeq > 0)) drafts.push(startRun([]));
  return { drafts };
}

/** Takes effect before the next tool starts; the current model call or tool finishes and is recorded. */
export function decidePause(state: ConversationState): Decision {
  if (state.status !== "running" && state.status !== "idle") return nothing;
  return {
    drafts: [statusUpdate("paused"), ...endRetry(state), { body: { kind: "PauseEvent", source: "user" } }],
  };
}

/**
 * A pause without a request: the process of an attended run has ended. Open actions stay open and need approval as
 * after any pause.
 */
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
 * Aborts the model call and the tools, keeps the partial text (L23.19), and answers every open action. Without work
 * in progress it is a pause.
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

/** As an interrupt, and the run ends with an error that says which limit it reached. Work of an ended run goes on. */
export function decideTimeUp(
  state: ConversationState,
  detail: string,
  { answerText = "" }: { readonly answerText?: string },
): Decision {
  if (state.status !== "running") return nothing;
  return {
    drafts: [
      ...(answerText.trim() === "" ? [] : [interruptedMessage(answerText)]),
      ...state.openActions.map((action) => agentError(action, timeUpText)),
      ...endRetry(state),
      ...failRun("MaxRunTimeReached", detail),
    ],
    isAbort: true,
  };
}

/** Without the range of its request: earlier messages are still to be answered. */
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

const timeUpText =
  "Ended by the time limit of the run before it finished. What it had done until then may remain; check before repeating it.";

const interruptedText =
  "Interrupted by the user before it finished. What it had done until then may remain; check before repeating it.";
