import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { emptyView, type ConversationView } from "./conversation-view.ts";
import { foldEvents, foldItem, viewOf, waitingActions } from "./fold-view.ts";
import { spendOf } from "./spend.ts";

const stored = (fields: object): Event => fields as unknown as Event;
const update = (key: string, value: unknown): Event =>
  stored({ kind: "ConversationStateUpdateEvent", source: "environment", key, value });
const action = (id: string, tool_name = "terminal"): Event =>
  stored({
    id,
    kind: "ActionEvent",
    tool_name,
    tool_call_id: `call-${id}`,
    llm_response_id: "r",
    action: {},
  });
const signals = (view: ConversationView, ...frames: object[]): ConversationView =>
  frames.reduce<ConversationView>(
    (before, frame) => foldItem(before, { type: "signal", frame: frame as Record<string, unknown> }),
    view,
  );

test("an approval takes one action out of those that wait; an answer takes it out of those that are open", () => {
  const asked = foldEvents(emptyView, [
    action("a"),
    action("b"),
    update("execution_status", "waiting_for_confirmation"),
  ]);
  expect(waitingActions(asked).map(({ id }) => id)).toEqual(["a", "b"]);
  const accepted = foldEvents(asked, [update("approvals", { accepted: ["a"], by: "user" })]);
  expect(waitingActions(accepted).map(({ id }) => id)).toEqual(["b"]);
  const rejected = foldEvents(accepted, [stored({ kind: "UserRejectObservation", action_id: "b" })]);
  expect(rejected.openActions.map(({ id }) => id)).toEqual(["a"]);
  const failed = foldEvents(rejected, [stored({ kind: "AgentErrorEvent", tool_call_id: "call-a" })]);
  expect(failed.openActions).toEqual([]);
});

test("P44: a queued message leaves with the answer that had read it, or when it is taken back", () => {
  const two = foldEvents(emptyView, [
    stored({ id: "m1", kind: "MessageEvent", source: "user" }),
    stored({ id: "m2", kind: "MessageEvent", source: "user" }),
  ]);
  expect(two.queued).toEqual(["m1", "m2"]);
  const one = foldEvents(two, [stored({ kind: "Condensation", forgotten_event_ids: ["m2"] })]);
  expect(one.queued).toEqual(["m1"]);
  const cut = foldEvents(one, [stored({ kind: "MessageEvent", source: "agent" })]);
  expect(cut.queued).toEqual(["m1"]);
  expect(foldEvents(one, [action("a")]).queued).toEqual([]);
});

test("title, retry and task list are those of the newest event that tells them", () => {
  const tasks = [{ title: "Look", notes: "", status: "done" as const }];
  const retry = { attempt: 2, code: "LLMRateLimitError", detail: "Slower.", until: null };
  const view = foldEvents(viewOf({ id: "c", title: "Old", execution_status: "running" }), [
    update("title", "New"),
    update("model_retry", retry),
    stored({
      kind: "ObservationEvent",
      action_id: "a",
      observation: { kind: "TaskTrackerObservation", task_list: tasks },
    }),
    stored({ kind: "NewerThanThisClient" }),
  ]);
  expect(view).toMatchObject({ status: "running", title: "New", retry, tasks });
  expect(foldEvents(view, [update("model_retry", null)]).retry).toBe(null);
});

test("P36: an older state than the one that is shown counts for nothing", () => {
  const state = (version: number, execution_status: string): object => ({
    kind: "ConversationStateUpdateEvent",
    key: "full_state",
    value: { version, execution_status, stats: { usage_to_metrics: {} } },
  });
  const view = signals(emptyView, state(7, "running"), state(5, "idle"));
  expect(view).toMatchObject({ status: "running", version: 7 });
});

test("fields of an unknown shape change nothing, and a snapshot only what it has", () => {
  const view = viewOf({
    version: 3,
    execution_status: "running",
    agent: { llm: { model: "openai/m" }, system_prompt_filename: "system_prompt_planning.j2" },
    workspace: { working_dir: "/w" },
    confirmation_policy: { kind: "AlwaysConfirm" },
    max_budget_per_task: 2,
    parent_conversation_id: "p",
    something_new: 1,
  });
  expect(view).toMatchObject({
    version: 3,
    model: "openai/m",
    isPlanning: true,
    workingDir: "/w",
    policy: "AlwaysConfirm",
    budget: 2,
    parentId: "p",
  });
  const odd = ["stats", "workspace", "confirmation_policy", "execution_status"].map((key) => update(key, 7));
  expect(foldEvents(view, odd)).toEqual(view);
  expect(viewOf({ ...view, version: 4 })).toMatchObject({ status: "idle", stats: {} });
});

test("F26: an agent plans until the log says that it has another prompt", () => {
  const agent = (name: string) => ({ llm: { model: "m" }, system_prompt_filename: name });
  const planning = viewOf({ agent: agent("system_prompt_planning.j2") });
  expect(planning.isPlanning).toBe(true);
  expect(foldEvents(planning, [update("agent", agent("system_prompt.j2"))]).isPlanning).toBe(false);
});

test("cost is that of all usages, the context that of the agent's own", () => {
  const metrics = (cost: number, tokens: number) => ({
    accumulated_cost: cost,
    accumulated_token_usage: {
      prompt_tokens: 10,
      completion_tokens: 2,
      per_turn_token: tokens,
      context_window: 1000,
    },
  });
  const stats = { usage_to_metrics: { title: metrics(0.25, 5), agent: metrics(1, 420) } };
  expect(spendOf(foldEvents(emptyView, [update("stats", stats)]))).toEqual({
    cost: 1.25,
    promptTokens: 20,
    completionTokens: 4,
    contextTokens: 420,
    contextWindow: 1000,
  });
});

test("J6: what waits and what was not read is what the server says, unless it is older", () => {
  const frame = (version: number, queued: string[]) => ({
    kind: "Standing",
    version,
    open_actions: [
      { action_id: "a", is_waiting: true },
      { action_id: "b", is_waiting: false },
    ],
    queued,
  });
  const now = signals(emptyView, frame(5, ["m"]));
  expect(now).toMatchObject({
    openActions: [
      { id: "a", isAccepted: false },
      { id: "b", isAccepted: true },
    ],
    queued: ["m"],
  });
  expect(signals(now, frame(4, []))).toBe(now);
});

test("an answer grows piece by piece, is kept until its events are there, and is forgotten when it failed", () => {
  const delta = (answer_id: string, seq: number, text: string): object => ({
    kind: "AnswerDelta",
    answer_id,
    seq,
    item: { type: "text", index: 0 },
    text,
  });
  const failed = signals(
    emptyView,
    delta("one", 1, "Lo"),
    { kind: "AnswerEnd", answer_id: "one", seq: 2, outcome: "void", llm_response_id: null },
    delta("two", 1, "Look"),
    delta("two", 3, " here"),
  );
  expect(failed.answers).toMatchObject([
    { id: "two", items: [{ text: "Look here" }], hasGap: true, outcome: null },
  ]);
  const done = signals(failed, {
    kind: "AnswerEnd",
    answer_id: "two",
    seq: 4,
    outcome: "done",
    llm_response_id: "r",
  });
  expect(done.answers).toMatchObject([{ outcome: "done", items: [{ text: "Look here" }] }]);
  const next = signals(done, delta("three", 1, "And"));
  expect(foldEvents(next, [action("a"), action("b")]).answers.map(({ id }) => id)).toEqual(["three"]);
  expect(foldEvents(next, [update("execution_status", "paused")]).answers).toEqual([]);
});

test("deltas without a name are one answer, until any of its events", () => {
  const plainDelta = (fields: object): object => ({ kind: "StreamingDeltaEvent", id: "x", ...fields });
  const view = signals(
    emptyView,
    plainDelta({ reasoning_content: "Hm" }),
    plainDelta({ content: "A" }),
    plainDelta({ content: "B" }),
  );
  expect(view.answers).toMatchObject([
    {
      id: null,
      items: [
        { type: "reasoning", text: "Hm" },
        { type: "text", text: "AB" },
      ],
    },
  ]);
  expect(foldEvents(view, [action("a")]).answers).toEqual([]);
});

test("what did not change is the same object", () => {
  const view = foldEvents(emptyView, [action("a")]);
  const after = foldEvents(view, [update("title", "T")]);
  expect(after.openActions).toBe(view.openActions);
  expect(after.answers).toBe(view.answers);
  expect(signals(view, { kind: "ServerErrorEvent", id: "e" })).toBe(view);
});
