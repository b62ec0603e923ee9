import type { AcpSessionFacts } from "./acp-state.ts";
import type { ConversationState } from "./conversation-state.ts";

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
