import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { stampDrafts, type EventBody, type EventDraft } from "../../events/event-draft.ts";
import { hasUnseenInput, initialState, type ConversationState } from "./conversation-state.ts";
import { agentError } from "../../events/call-answers.ts";
import { decideReject, decideSend } from "../commands/decide.ts";
import { startRun, statusUpdate } from "../../events/state-update.ts";
import { applyEvent } from "./fold.ts";
import { nextStep } from "../run/next-step.ts";

const systemPrompt: EventBody = {
  kind: "SystemPromptEvent",
  source: "agent",
  system_prompt: { type: "text", text: "be good", cache_prompt: false },
  tools: [],
};

/** Folds drafts as the log would. */
function after(state: ConversationState, drafts: readonly EventDraft[]): ConversationState {
  const next = { ...state };
  for (const stamped of stampDrafts(drafts, next, 1_700_000_000_000, (json) => json)) {
    applyEvent(next, stamped);
    next.lastMicros = stamped.record.timestampMicros;
  }
  return next;
}

const plain = {
  goal: null,
  sender: null,
  opening: () => [{ body: systemPrompt }],
  activation: { names: [], texts: [] },
  admitted: { records: [], contexts: [] },
  suffix: "",
};

function afterMessage(state: ConversationState, text: string, wantsRun = true): ConversationState {
  const message = {
    role: "user" as const,
    content: [{ type: "text" as const, text, cache_prompt: false }],
    thinking_blocks: [],
  };
  return after(state, decideSend(state, { ...plain, message, wantsRun }).drafts);
}

function called(
  state: ConversationState,
  gate: "approved" | "awaiting",
  names: readonly string[],
): ConversationState {
  return after(
    state,
    names.map((name, index): EventDraft => ({
      body: {
        kind: "ActionEvent",
        source: "agent",
        thought: [],
        thinking_blocks: [],
        action: { kind: "ThinkAction", thought: "" },
        tool_name: name,
        tool_call_id: `call-${index}`,
        tool_call: { id: `call-${index}`, name, arguments: "{}", origin: "completion" },
        llm_response_id: "response",
        security_risk: "UNKNOWN",
      } as Omit<Extract<Event, { kind: "ActionEvent" }>, "id" | "timestamp">,
      meta: { gate, ...(index === 0 ? { sawSeq: state.lastSeq } : {}) },
    })),
  );
}

function observed(state: ConversationState, isFinal = false): ConversationState {
  const [action] = state.openActions;
  return after(state, [
    {
      body: {
        kind: "ObservationEvent",
        source: "environment",
        tool_name: action!.toolName,
        tool_call_id: action!.toolCallId,
        action_id: action!.id,
        observation: { kind: "ThinkObservation", content: [], is_error: false },
      },
      ...(isFinal ? { meta: { isFinal } } : {}),
    },
  ]);
}

const limits = { maxIterations: 10, circling: "no" } as const;

test("a first message with a run is one commit: prompt, message, its id, running", () => {
  const message = { role: "user" as const, content: [], thinking_blocks: [] };
  const { drafts } = decideSend(initialState(), {
    ...plain,
    message,
    wantsRun: true,
  });
  const stamped = stampDrafts(drafts, initialState(), 1_700_000_000_000, (json) => json);
  expect(stamped.map(({ event }) => [event.kind, "key" in event ? event.key : null])).toEqual([
    ["SystemPromptEvent", null],
    ["MessageEvent", null],
    ["ConversationStateUpdateEvent", "last_user_message_id"],
    ["ConversationStateUpdateEvent", "execution_status"],
  ]);
  expect(stamped[2]!.event).toMatchObject({ value: stamped[1]!.record.id });
});

test("P40: times in a log strictly increase even when the clock goes back", () => {
  const first = after(initialState(), [statusUpdate("running")]);
  const stamped = stampDrafts([statusUpdate("paused")], first, 1_600_000_000_000, (json) => json);
  expect(stamped[0]!.record.timestampMicros).toBe(first.lastMicros + 1);
});

test("a turn: request, execute in order, request again, finish", () => {
  let state = afterMessage(initialState(), "go");
  expect(nextStep(state, limits)).toEqual({ type: "request", sawSeq: 4 });
  state = called(state, "approved", ["a", "b"]);
  expect(nextStep(state, limits)).toMatchObject({
    type: "execute",
    actions: [{ toolName: "a" }, { toolName: "b" }],
  });
  state = observed(state);
  expect(nextStep(state, limits)).toMatchObject({ type: "execute", actions: [{ toolName: "b" }] });
  state = observed(state);
  expect(nextStep(state, limits)).toMatchObject({ type: "request" });
  state = observed(called(state, "approved", ["finish"]), true);
  expect(nextStep(state, limits)).toEqual({ type: "settle", drafts: [statusUpdate("finished")] });
});

test("W3, L23.6: a message that came during the last model call is answered before the run ends", () => {
  let state = afterMessage(initialState(), "go");
  const sawSeq = state.lastSeq;
  state = afterMessage(state, "and this too", false);
  state = after(state, [
    {
      body: {
        kind: "MessageEvent",
        source: "agent",
        llm_message: { role: "assistant", content: [], thinking_blocks: [] },
        activated_skills: [],
        extended_content: [],
      },
      meta: { sawSeq },
    },
  ]);
  expect(hasUnseenInput(state)).toBe(true);
  expect(nextStep(state, limits)).toMatchObject({ type: "request" });
});

test("L23.4: finish ends the turn although other results of the same answer were never read", () => {
  let state = called(afterMessage(initialState(), "go"), "approved", ["a", "finish"]);
  state = observed(observed(state), true);
  expect(nextStep(state, limits)).toEqual({ type: "settle", drafts: [statusUpdate("finished")] });
});

test("W2, L23.2: what awaits the user does not start by a message, only by a run", () => {
  let state = called(afterMessage(initialState(), "go"), "awaiting", ["a"]);
  expect(nextStep(state, limits)).toEqual({
    type: "settle",
    drafts: [statusUpdate("waiting_for_confirmation")],
  });
  state = after(state, [statusUpdate("waiting_for_confirmation")]);
  state = afterMessage(state, "do not do that!");
  expect(state.status).toBe("waiting_for_confirmation");
  expect(state.openActions[0]?.gate).toBe("awaiting");
  state = after(state, [startRun(state.openActions)]);
  expect(nextStep(state, limits)).toMatchObject({ type: "execute" });
});

test("P26: a run that was asked for while waiting goes on after the rejection", () => {
  let state = called(afterMessage(initialState(), "go"), "awaiting", ["a"]);
  state = afterMessage(after(state, [statusUpdate("waiting_for_confirmation")]), "do something else");
  state = after(state, decideReject(state, "no").drafts);
  expect([state.status, state.openActions]).toEqual(["running", []]);
  expect(nextStep(state, limits)).toMatchObject({ type: "request" });
});

test("reject without such a message leaves the conversation idle, as the reference does", () => {
  let state = after(called(afterMessage(initialState(), "go"), "awaiting", ["a", "b"]), [
    statusUpdate("waiting_for_confirmation"),
  ]);
  state = after(state, decideReject(state, "no").drafts);
  expect([state.status, state.openActions]).toEqual(["idle", []]);
});

test("the iteration limit ends the run with an error, and the next run counts again", () => {
  let state = afterMessage(initialState(), "go");
  for (let turn = 0; turn < 2; turn++) state = observed(called(state, "approved", ["a"]));
  const step = nextStep(state, { maxIterations: 2, circling: "no" });
  expect(step).toMatchObject({
    type: "settle",
    drafts: [
      statusUpdate("error"),
      { body: { kind: "ConversationErrorEvent", code: "MaxIterationsReached" } },
    ],
  });
  state = after(state, [statusUpdate("error")]);
  state = after(state, [startRun([])]);
  expect(nextStep(state, { maxIterations: 2, circling: "no" })).toMatchObject({ type: "request" });
});

test("P6: an error answers its own action only, also when two calls share a tool call id", () => {
  const base = called(afterMessage(initialState(), "go"), "approved", ["a"]);
  const state = called(base, "approved", ["b"]);
  const [first, second] = state.openActions;
  expect(first!.toolCallId).toBe(second!.toolCallId);
  expect(after(state, [agentError(second!, "lost")]).openActions).toEqual([first]);
});

test("unknown kinds and state keys of other releases are passed over", () => {
  const state = initialState();
  applyEvent(state, { seq: 1, event: { kind: "FromTheFuture", id: "x" } as unknown as Event, meta: {} });
  expect(state).toEqual({ ...initialState(), lastSeq: 1, lastId: "x" });
});
