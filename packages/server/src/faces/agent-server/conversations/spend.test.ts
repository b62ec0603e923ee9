import type { ConversationSpend, UserSpend } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 0.4 };
const step = { tool_calls: [{ name: "terminal", arguments: { command: "a" } }], usage };

async function spend(server: TestServer): Promise<UserSpend> {
  return (await server.call("GET", "/api/spend")).json as UserSpend;
}

async function limitDay(server: TestServer, limit: number | null): Promise<void> {
  const { status, text } = await server.call("PUT", "/api/spend/limits", { max_budget_per_day: limit });
  expect(status, text).toBe(200);
}

test("P48: two conversations at once overstep the budget of a day by one call at most, and go on when it is raised", async () => {
  await using server = await startTestServer({ script: { turns: [step], loop: true } });
  await limitDay(server, 1);
  const start = { text: "go", stuck_detection: false, max_iterations: 6 };
  const ids = (await Promise.all([1, 2].map(() => server.createConversation(start)))).map(({ id }) => id);
  for (const id of ids) await server.waitForStatus(id, "error");
  expect(server.model.requests).toHaveLength(3);
  const before = await spend(server);
  expect(before).toMatchObject({ max_budget_per_day: 1, own_max_budget_per_day: 1 });
  expect(before.today).toBeCloseTo(1.2);
  expect(before.conversations.map(({ calls }) => calls).reduce((sum, calls) => sum + calls)).toBe(3);
  for (const id of ids) {
    const log = await server.events(id);
    expect(log.filter((event) => event.kind === "ConversationErrorEvent")).toMatchObject([
      { code: "MaxBudgetReached" },
    ]);
  }
  // Over a restart the money is still gone, and deleting a conversation gives none back.
  await server.restart();
  await server.client.deleteConversation(ids[1]!);
  expect((await spend(server)).today).toBeCloseTo(1.2);
  await server.client.run(ids[0]!);
  await server.waitForStatus(ids[0]!, "error");
  expect(server.model.requests).toHaveLength(3);
  await limitDay(server, null);
  await server.client.run(ids[0]!);
  await until(() => server.model.requests.length > 3);
  await server.waitForStatus(ids[0]!, "error");
  const last = (await server.events(ids[0]!))
    .filter((event) => event.kind === "ConversationErrorEvent")
    .at(-1);
  expect(last).toMatchObject({ code: "MaxIterationsReached" });
});

test("P48: calls beside the task count, and are refused when nothing is left", async () => {
  const turns = [{ text: "An answer.", usage }];
  await using server = await startTestServer({ script: { turns, loop: true } });
  const id = await server.runTo("finished", "go", { max_budget_per_task: 0.7 });
  const ask = async () =>
    server.call("POST", `/api/conversations/${id}/ask_agent`, { question: "What is this?" });
  expect((await ask()).status).toBe(200);
  const refused = await ask();
  expect(refused.status).toBe(503);
  expect(refused.text).toContain("budget");
  const report = await spend(server);
  expect(report.conversations).toMatchObject([{ conversation_id: id, calls: 2, prompt_tokens: 20 }]);
  expect(report.cost).toBeCloseTo(0.8);
  expect(Object.values(report.days)[0]).toBeCloseTo(0.8);
  expect(server.model.requests).toHaveLength(2);
});

test("P48: stats, the list of calls and the ledger say the same, whatever becomes of an answer", async () => {
  const judged = '{"score": 1, "complete": true, "missing": ""}';
  const turns = [
    { match: { last_user_contains: "<message>" }, text: "A title", usage },
    { match: { last_user_contains: "Write the notes now" }, text: "", usage },
    { match: { last_user_contains: "beside the task" }, ...step },
    { match: { last_user_contains: "Is this objective reached" }, text: judged, usage },
    step,
    { text: "Done.", usage },
    { text: "More.", usage },
  ];
  await using server = await startTestServer({ script: { turns } });
  const id = await server.runTo("finished", "go", { autotitle: true });
  const question = { question: "What is this?" };
  const asked = await server.call("POST", `/api/conversations/${id}/ask_agent`, question);
  expect(asked.json).toMatchObject({ code: "model_failed" });
  // No notes came, so plain ones stand in for them; they were asked for all the same.
  expect((await server.call("POST", `/api/conversations/${id}/condense`)).status).toBe(200);
  await server.call("POST", `/api/conversations/${id}/goal`, { objective: "Be done.", max_iterations: 2 });
  await until(async () => JSON.stringify(await server.events(id)).includes('"status":"complete"'));
  // Beside the run, and recorded before the title is set.
  await until(async () => (await server.client.getConversation(id)).title === "A title");

  const paid = server.model.requests.length;
  const metrics = (await server.client.getConversation(id)).stats?.usage_to_metrics ?? {};
  expect(Object.keys(metrics).toSorted()).toEqual([
    "ask-agent-llm",
    "condenser",
    "default",
    "goal-judge-llm",
    "title",
  ]);
  const sum = Object.values(metrics).reduce((total, one) => total + (one.accumulated_cost ?? 0), 0);
  expect(sum).toBeCloseTo(paid * usage.cost);
  const own = (await server.call("GET", `/api/conversations/${id}/spend`)).json as ConversationSpend;
  expect(own.cost).toBeCloseTo(sum);
  expect(own.calls).toHaveLength(paid);
  expect((await spend(server)).conversations).toMatchObject([{ conversation_id: id, calls: paid }]);
  expect((await spend(server)).cost).toBeCloseTo(sum);

  const fork = (await server.call("POST", `/api/conversations/${id}/fork`, {})).json as { id: string };
  const forked = (await server.call("GET", `/api/conversations/${fork.id}/spend`)).json;
  expect(forked).toMatchObject({ cost: 0, calls: [], days: {} });
});

test("P48: nobody sees or limits the spending of another, and the operator's limit holds beside one's own", async () => {
  await using server = await startTestServer({
    script: { turns: [step], loop: true },
    config: { maxBudgetPerUserPerDay: 0.5 },
  });
  await limitDay(server, 100);
  const { id } = await server.createConversation({ text: "go", stuck_detection: false });
  await server.waitForStatus(id, "error");
  expect(server.model.requests).toHaveLength(2);
  expect(await spend(server)).toMatchObject({ max_budget_per_day: 0.5, own_max_budget_per_day: 100 });
  await using keys = await server.openKeys();
  const { key } = await keys.store.create("bob", "");
  const reply = await fetch(`${server.url}/api/spend`, { headers: { "X-Session-API-Key": key } });
  expect(await reply.json()).toMatchObject({ cost: 0, conversations: [], own_max_budget_per_day: null });
});

test("limits of a new conversation come from its request, from the settings or from the server", async () => {
  await using server = await startTestServer({
    script: { turns: [step], loop: true },
    config: { approvalDefault: { timeout_seconds: 0.05, on_timeout: "reject" } },
  });
  const stored = await server.call("POST", "/api/settings", { max_budget_per_task: 0.3 });
  expect(stored.status, stored.text).toBe(200);
  const start = {
    text: "go",
    stuck_detection: false,
    confirmation_policy: { kind: "AlwaysConfirm" },
  } as const;
  const { id } = await server.createConversation(start);
  await server.waitForStatus(id, "error");
  expect(server.model.requests).toHaveLength(1);
  expect(server.quickTools.started).toEqual([]);
  expect((await server.call("GET", `/api/conversations/${id}/spend`)).json).toMatchObject({
    max_budget_per_task: 0.3,
  });
  const given = {
    ...start,
    max_budget_per_task: 0.7,
    approval_policy: { timeout_seconds: 0.05, on_timeout: "accept" },
  } as const;
  const other = await server.createConversation(given);
  await server.waitForStatus(other.id, "error");
  expect(server.quickTools.started).toEqual(["a", "a"]);
  const bad = server.startRequest({ approval_policy: { timeout_seconds: -1, on_timeout: "accept" } });
  expect((await server.call("POST", "/api/conversations", bad)).status).toBe(422);
});
