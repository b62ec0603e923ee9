import type { ACPModelInfo } from "@convoke/protocol";
import type { ConversationState } from "./conversation-state.ts";

/** A tool call of the other agent. */
export type AcpCall = { readonly id: string; readonly title: string; readonly kind: string | null };

/** What the log says about the other agent of a conversation. */
export type AcpState = {
  /** Its session; null before the first one. */
  readonly session: AcpSessionFacts | null;
  /** A prompt was sent, and its end is not recorded. */
  readonly isPrompting: boolean;
  /** Tool calls without an end. */
  readonly calls: readonly AcpCall[];
};

export type AcpSessionFacts = {
  readonly session_id: string;
  readonly agent_name: string | null;
  readonly current_model_id: string | null;
  readonly available_models: readonly ACPModelInfo[];
  readonly supports_runtime_model_switch: boolean;
};

export const noAcp: AcpState = { session: null, isPrompting: false, calls: [] };

type CallEvent = {
  readonly tool_call_id: string;
  readonly title: string;
  readonly tool_kind?: string | null | undefined;
  readonly status?: string | null | undefined;
};

const endStatuses = new Set<unknown>(["completed", "failed"]);

/** A call counts as a step when it is first heard of. */
export function applyCall(state: ConversationState, event: CallEvent): void {
  const { acp } = state;
  const { tool_call_id: id, title, tool_kind: kind = null, status } = event;
  if (!acp.calls.some((call) => call.id === id)) state.iterations += 1;
  const others = acp.calls.filter((call) => call.id !== id);
  state.acp = { ...acp, calls: endStatuses.has(status) ? others : [...others, { id, title, kind }] };
}

/** After a prompt everything is read but the messages that arrived meanwhile. */
export function applyPrompt(state: ConversationState, seq: number, value: unknown): void {
  const isPrompting = (value as { status?: unknown }).status === "begun";
  state.acp = { ...state.acp, isPrompting };
  if (isPrompting) return;
  const [first] = state.queued;
  state.lastSawSeq = first === undefined ? seq : Math.max(state.lastSawSeq, first.seq - 1);
}

export function applySession(state: ConversationState, value: unknown): void {
  state.acp = { ...state.acp, session: value as AcpSessionFacts };
}
