import { expect, test } from "vitest";
import { emptyState, withEvent, withSnapshot, withLiveStatus } from "./fold-state.ts";

const update = (key: string, value: unknown) => ({ kind: "ConversationStateUpdateEvent", key, value });

test("P36: an older snapshot changes nothing", () => {
  const now = withSnapshot(emptyState, {
    version: 7,
    execution_status: "running",
    agent: { llm: { model: "m" } },
  });
  expect(now).toMatchObject({ status: "running", model: "m", version: 7 });
  expect(withSnapshot(now, { version: 6, execution_status: "idle" })).toBe(now);
});

test("updates count in their order, and events that say nothing about the state leave it the same object", () => {
  let state = withEvent(emptyState, update("execution_status", "running"));
  state = withEvent(
    state,
    update("model_retry", { attempt: 2, code: "LLMRateLimitError", until: "2026-01-31T12:00:00Z" }),
  );
  expect(state).toMatchObject({ status: "running", retry: { attempt: 2, code: "LLMRateLimitError" } });
  state = withEvent(state, update("model_retry", null));
  expect(state.retry).toBeNull();
  expect(withEvent(state, { kind: "MessageEvent" })).toBe(state);
  expect(withEvent(state, update("something_new", 1))).toBe(state);
});

test("F26: an agent plans until the log says that it has another prompt", () => {
  const agent = (name: string) => ({ llm: { model: "m" }, system_prompt_filename: name });
  const planning = withSnapshot(emptyState, { agent: agent("system_prompt_planning.j2") });
  expect(planning.isPlanning).toBe(true);
  expect(withEvent(planning, update("agent", agent("system_prompt.j2"))).isPlanning).toBe(false);
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
  expect(withEvent(emptyState, update("stats", stats))).toMatchObject({
    cost: 1.25,
    tokensIn: 20,
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
  const now = withLiveStatus(emptyState, frame(5, ["m"]));
  expect(now).toMatchObject({ waiting: ["a"], queued: ["m"] });
  expect(withLiveStatus(now, frame(4, []))).toBe(now);
});
