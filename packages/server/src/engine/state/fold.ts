import type { Event, Message } from "@convoke/protocol";
import { commonRanges } from "../../agent/branches.ts";
import type { BranchHead, ConversationState, OpenAction } from "./conversation-state.ts";
import type { EventMeta, SeqRange } from "../../events/event-draft.ts";
import { parseInstant } from "../../lib/instant.ts";
import { unusedFieldsOf } from "../unused-fields.ts";
import { applyCall, applyPrompt, applySession } from "./apply-acp.ts";
import { beginningOf, planOf, retryUntilOf } from "./shown-facts.ts";

/** One stored event as the fold reads it. */
export type FoldedEvent = { readonly seq: number; readonly event: Event; readonly meta: EventMeta };

/** Kinds that change the state; other kinds only advance the position. */
export const foldedKinds = [
  "SystemPromptEvent",
  "MessageEvent",
  "ActionEvent",
  "ObservationEvent",
  "AgentErrorEvent",
  "UserRejectObservation",
  "Condensation",
  "CondensationSummaryEvent",
  "ConversationStateUpdateEvent",
  "ACPToolCallEvent",
] as const satisfies readonly Event["kind"][];

/** Folded kinds with which a branch can end. */
const isLeafKind = new Set<string>(foldedKinds.filter((kind) => kind !== "ConversationStateUpdateEvent"));

/**
 * Applies one event to `state` in place; nested values are replaced, never mutated. Unknown kinds and fields are
 * ignored: logs of other releases stay readable.
 */
export function applyEvent(state: ConversationState, { seq, event, meta }: FoldedEvent): void {
  state.lastSeq = seq;
  state.lastId = event.id ?? state.lastId;
  if (isLeafKind.has(event.kind)) state.leafId = event.id ?? null;
  if (meta.checkpoint !== undefined) state.checkpointSeq = seq;
  switch (event.kind) {
    case "SystemPromptEvent":
      state.systemPromptSeq ??= seq;
      return;
    case "MessageEvent":
      state.lastText = beginningOf(event.llm_message) || state.lastText;
      applyMessage(state, { seq, event, meta });
      return;
    case "ActionEvent":
      applyAnswer(state, seq, meta);
      if (event.action?.kind === "BrowserAction") state.hasAskedForBrowser = true;
      if (event.action) {
        state.openActions = [
          ...state.openActions,
          {
            id: event.id!,
            seq,
            toolName: event.tool_name,
            toolCallId: event.tool_call_id,
            gate: meta.gate ?? "approved",
            ...(meta.structuredOutput === undefined ? {} : { structuredOutput: meta.structuredOutput }),
          },
        ];
      }
      return;
    case "ObservationEvent":
    case "UserRejectObservation":
      if (meta.isFinal === true) state.structuredOutput = answerOf(state, event.action_id);
      state.openActions = state.openActions.filter((action) => action.id !== event.action_id);
      state.lastResultSeq = meta.isFinal === true ? 0 : seq;
      if (event.kind === "ObservationEvent") {
        noteSkill(state, event.observation);
        state.plan = planOf(event.observation) ?? state.plan;
      }
      return;
    case "AgentErrorEvent":
      if (meta.isRefusedAnswer === true) state.refusedAnswers += 1;
      state.openActions = state.openActions.filter((action) => action.id !== meta.answers);
      state.lastResultSeq = meta.isFinal === true ? 0 : seq;
      return;
    case "Condensation":
      if (meta.dequeued !== undefined) removeQueued(state, meta.dequeued);
      if (meta.keeps !== undefined)
        state.viewStart = { kept: rangesInView(state, seq, meta.keeps), fromSeq: seq };
      return;
    case "ACPToolCallEvent":
      applyCall(state, event);
      return;
    case "ConversationStateUpdateEvent":
      applyUpdate(state, { seq, event, meta }, event.key, event.value);
      if (meta.navigation !== undefined) navigate(state, seq, meta.navigation);
      if (meta.adjusted !== undefined) state.toldAdjustments = [...state.toldAdjustments, meta.adjusted];
      return;
    default:
  }
}

/** In older logs a range spans consecutive events of the view; events removed by an earlier condensation stay out. */
function rangesInView(
  { viewStart: { kept, fromSeq } }: ConversationState,
  seq: number,
  keeps: readonly SeqRange[],
): readonly SeqRange[] {
  return commonRanges([...kept, [fromSeq, seq]], keeps);
}

function noteSkill(state: ConversationState, observation: object): void {
  const {
    kind,
    is_error: isError,
    skill_name: name,
  } = observation as {
    kind?: string;
    is_error?: boolean;
    skill_name?: string;
  };
  if (kind !== "InvokeSkillObservation" || isError === true || name === undefined) return;
  if (!state.invokedSkills.includes(name)) state.invokedSkills = [...state.invokedSkills, name];
}

/** The structured answer of an open call. */
function answerOf({ openActions }: ConversationState, id: string): ConversationState["structuredOutput"] {
  return openActions.find((action) => action.id === id)?.structuredOutput ?? null;
}

function applyMessage(state: ConversationState, { seq, event, meta }: FoldedEvent): void {
  if (event.source === "agent") {
    state.structuredOutput = meta.structuredOutput ?? null;
    applyAnswer(state, seq, meta);
    return;
  }
  if (meta.isRefusedAnswer === true) state.refusedAnswers += 1;
  if (event.source === "user") {
    state.refusedAnswers = 0;
    state.responseSchema = meta.responseSchema ?? state.responseSchema;
  }
  const wantsRun = meta.wantsRun === true;
  const { sender } = event as { readonly sender?: string | null };
  const isFromUser = event.source === "user";
  state.queued = [
    ...state.queued,
    { id: event.id!, seq, isFromUser, wantsRun, ...(sender ? { sender } : {}) },
  ];
  state.lastMessageSeq = seq;
  if (event.source === "user") state.lastUserMessageId = event.id ?? null;
  if (wantsRun) state.runWantedSeq = seq;
}

function addHeld(state: ConversationState, { seq, event, meta }: FoldedEvent, value: unknown): void {
  const { message, sender } = value as { message?: Message; sender?: string };
  const wantsRun = meta.held?.wantsRun === true;
  const held = { id: event.id!, seq, wantsRun, text: beginningOf(message), ...(sender ? { sender } : {}) };
  state.held = [...state.held, held];
}

/** Removes a withdrawn message from the state. */
function removeQueued(state: ConversationState, id: string): void {
  state.queued = state.queued.filter((message) => message.id !== id);
  state.lastMessageSeq = Math.max(0, ...state.queued.map(({ seq }) => seq));
  const wanted = state.queued.filter(({ wantsRun }) => wantsRun).map(({ seq }) => seq);
  if (state.runWantedSeq > 0) state.runWantedSeq = Math.max(0, ...wanted);
}

/** The first event of each model answer carries `sawSeq`; it counts as one iteration. */
function applyAnswer(state: ConversationState, seq: number, meta: EventMeta): void {
  if (meta.sawSeq === undefined) return;
  state.lastSawSeq = Math.min(meta.sawSeq, seq);
  if (state.runWantedSeq <= state.lastSawSeq) state.runWantedSeq = 0;
  if (state.queued.length > 0)
    state.queued = state.queued.filter((message) => message.seq > state.lastSawSeq);
  state.iterations += 1;
}

function applyUpdate(
  state: ConversationState,
  { seq, event, meta }: FoldedEvent,
  key: string | undefined,
  value: unknown,
): void {
  if (key === "stats") {
    state.stats = (value as { usage_to_metrics: Record<string, unknown> }).usage_to_metrics;
    state.statsSeq = seq;
    return;
  }
  if (key === "model_retry") {
    state.isRetryShown = value !== null;
    state.retryUntil = retryUntilOf(value);
  }
  if (key === "warning") state.unusedFields = [...state.unusedFields, ...unusedFieldsOf(value)];
  if (meta.pendingCall !== undefined)
    changeActions(state, { [meta.pendingCall.id]: { resultDeadlineMs: meta.pendingCall.deadlineMs } });
  if (meta.held !== undefined) addHeld(state, { seq, event, meta }, value);
  if (meta.released !== undefined) state.held = state.held.filter(({ id }) => id !== meta.released);
  if (key === "acp_session") applySession(state, value);
  if (key === "acp_prompt") {
    applyAnswer(state, seq, meta);
    applyPrompt(state, seq, value);
  }
  if (key === "goal") state.goal = value as ConversationState["goal"];
  if (meta.approved !== undefined) approve(state, meta.approved);
  for (const [id, review] of Object.entries(meta.reviewed ?? {})) changeActions(state, { [id]: { review } });
  if (key === "approval_policy" && meta.deadlineMs !== undefined) state.approvalDeadlineMs = meta.deadlineMs;
  if (key !== "execution_status") return;
  const atMs = Math.floor((parseInstant(event.timestamp ?? "") ?? state.lastMicros) / 1000);
  if (state.status === "running") state.workedMs += Math.max(0, atMs - state.runStartMs);
  state.runStartMs = atMs;
  state.status = value as ConversationState["status"];
  if (state.status !== "running" && state.status !== "waiting_for_confirmation") {
    state.runWantedSeq = 0;
    if (state.acp.isPrompting) state.acp = { ...state.acp, isPrompting: false };
  }
  if (state.status === "finished") {
    state.responseSchema = null;
    state.refusedAnswers = 0;
  }
  state.approvalDeadlineMs = meta.deadlineMs ?? null;
  if (meta.run === undefined) return;
  approve(state, meta.run.approved);
  state.isAttended = meta.run.isAttended === true;
  state.runStartSeq = seq;
  state.iterations = 0;
}

/** Rebuilds the view from the whole branch: ranges of condensations on another branch do not apply. */
function navigate(
  state: ConversationState,
  seq: number,
  { toSeq, head, jumps = [] }: NonNullable<EventMeta["navigation"]>,
): void {
  Object.assign(state, head as BranchHead);
  state.navigations = [...state.navigations, ...jumps, [seq, toSeq]];
  state.viewStart = { kept: [], fromSeq: 1 };
  state.runWantedSeq = 0;
  state.approvalDeadlineMs = null;
}

/** `changes` by the action's id. */
function changeActions(
  state: ConversationState,
  changes: Readonly<Record<string, Partial<OpenAction>>>,
): void {
  state.openActions = state.openActions.map((action) =>
    Object.hasOwn(changes, action.id) ? { ...action, ...changes[action.id] } : action,
  );
}

function approve(state: ConversationState, ids: readonly string[]): void {
  changeActions(state, Object.fromEntries(ids.map((id) => [id, { gate: "approved" as const }])));
}
