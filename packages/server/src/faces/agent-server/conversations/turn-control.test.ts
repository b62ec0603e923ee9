import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { holdAnswers } from "../../../testing/hold-answers.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

const shell = (command: string) => ({ name: "terminal", arguments: { command } });
const threeCalls = { turns: [{ tool_calls: [shell("a"), shell("b"), shell("c")] }, { text: "Done." }] };
const always = { confirmation_policy: { kind: "AlwaysConfirm" } } as const;

type Approval = {
  action_id: string;
  tool_name: string;
  deadline: string | null;
  action: { command: string };
};

async function approvals(server: TestServer, id: string): Promise<Approval[]> {
  const { json } = await server.call("GET", `/api/conversations/${id}/approvals`);
  return (json as { items: Approval[] }).items;
}

function ofKind<Kind extends Event["kind"]>(log: readonly Event[], kind: Kind) {
  return log.filter((event): event is Extract<Event, { kind: Kind }> => event.kind === kind);
}

test("P17, L23.13: answers per action, listed over REST, over a restart; unknown is 404, settled is 409", async () => {
  await using server = await startTestServer({ script: threeCalls });
  const id = await server.runTo("waiting_for_confirmation", "go", always);
  await server.restart();
  const waiting = await approvals(server, id);
  expect(waiting.map(({ action }) => action.command)).toEqual(["a", "b", "c"]);
  expect((await server.call("GET", "/api/approvals")).json).toEqual({ items: waiting });
  const answer = async (index: number, accept: boolean) =>
    server.call("POST", `/api/conversations/${id}/approvals`, {
      answers: [{ action_id: waiting[index]!.action_id, accept, reason: "no b" }],
    });
  expect((await answer(0, true)).status).toBe(200);
  expect((await server.client.getConversation(id)).execution_status).toBe("waiting_for_confirmation");
  expect(server.quickTools.started).toEqual([]);
  await server.restart();
  expect((await answer(1, false)).status).toBe(200);
  expect((await answer(1, true)).status).toBe(409);
  const unknown = { answers: [{ action_id: "nobody", accept: true }] };
  expect((await server.call("POST", `/api/conversations/${id}/approvals`, unknown)).status).toBe(404);
  expect((await answer(2, true)).status).toBe(200);
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["a", "c"]);
  expect(ofKind(await server.events(id), "UserRejectObservation")).toHaveLength(1);
  expect(await approvals(server, id)).toEqual([]);
});

test.each(["accept", "reject"] as const)(
  "P17: without a client the configured default, %s, counts at its deadline and is recorded",
  async (on_timeout) => {
    await using server = await startTestServer({ script: threeCalls });
    const { id } = await server.createConversation(always);
    const policy = { timeout_seconds: 0.3, on_timeout };
    await server.call("POST", `/api/conversations/${id}/approval_policy`, { policy });
    await server.client.sendMessage(id, { content: [{ type: "text", text: "go" }], run: true });
    await server.waitForStatus(id, "finished");
    expect(server.quickTools.started).toEqual(on_timeout === "accept" ? ["a", "b", "c"] : []);
    const log = await server.events(id);
    const rejected = ofKind(log, "UserRejectObservation").map((event) => event.rejection_reason);
    expect(rejected).toHaveLength(on_timeout === "accept" ? 0 : 3);
    const recorded = ofKind(log, "ConversationStateUpdateEvent").filter(({ key }) => key === "approvals");
    expect(recorded).toHaveLength(on_timeout === "accept" ? 1 : 0);
  },
);

test("P17: a deadline that passes while the server is down counts after its start", async () => {
  await using server = await startTestServer({ script: threeCalls });
  const { id } = await server.createConversation(always);
  const set = async (timeout_seconds: number) =>
    server.call("POST", `/api/conversations/${id}/approval_policy`, {
      policy: { timeout_seconds, on_timeout: "reject" },
    });
  await set(3600);
  await server.client.sendMessage(id, { content: [{ type: "text", text: "go" }], run: true });
  await server.waitForStatus(id, "waiting_for_confirmation");
  // P40: one form for every time on the wire.
  expect((await approvals(server, id))[0]!.deadline).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  await set(1);
  const passedMs = Date.now() + 1_000;
  await server.close();
  await until(() => Date.now() > passedMs);
  await server.restart();
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual([]);
});

test("P17: a policy that is set while calls wait counts for them, over a restart; without one they wait for ever again", async () => {
  await using server = await startTestServer({ script: threeCalls });
  const id = await server.runTo("waiting_for_confirmation", "go", always);
  expect((await approvals(server, id))[0]!.deadline).toBeNull();
  const set = async (policy: object | null) =>
    server.call("POST", `/api/conversations/${id}/approval_policy`, { policy });
  await set({ timeout_seconds: 3600, on_timeout: "accept" });
  const [first] = await approvals(server, id);
  expect(Date.parse(first!.deadline!)).toBeGreaterThan(Date.now() + 3_000_000);
  await set(null);
  expect((await approvals(server, id))[0]!.deadline).toBeNull();
  await set({ timeout_seconds: 0.5, on_timeout: "reject" });
  await server.restart();
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual([]);
});

test("calls that were allowed once and for all do not ask; a trial over the log changes nothing", async () => {
  const script = {
    turns: [
      { tool_calls: [shell("git status -s")] },
      { tool_calls: [shell("git status; rm x")] },
      { text: "Done." },
    ],
  };
  await using server = await startTestServer({ script });
  const { id } = await server.createConversation(always);
  const rules = [{ tool_name: "terminal", arguments: { command: "git status*" } }];
  await server.call("PUT", `/api/conversations/${id}/allow_rules`, { rules });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "go" }], run: true });
  await server.waitForStatus(id, "waiting_for_confirmation");
  expect(server.quickTools.started).toEqual(["git status -s"]);
  const before = await server.eventTexts(id);
  const trial = await server.call("POST", `/api/conversations/${id}/allow_rules/dry_run`, { rules });
  expect(trial.json).toMatchObject({
    action_count: 2,
    matches: [{ action: { command: "git status -s" }, was_asked: false }],
  });
  expect(await server.eventTexts(id)).toEqual(before);
  expect((await server.call("GET", `/api/conversations/${id}/allow_rules`)).json).toEqual({ rules });
});

test("P44: queued messages survive interrupt and restart, keep their order, are listed and can be taken back", async () => {
  await using server = await startTestServer({ script: { turns: [{ hang: true }, { text: "All read." }] } });
  const { id } = await server.createConversation({ text: "go" });
  await until(() => server.model.requests.length === 1);
  for (const text of ["alphaword", "bravoword", "charlieword"]) {
    await server.client.sendMessage(id, { content: [{ type: "text", text }], run: true });
  }
  const queue = async (): Promise<{ event_id: string; message: object }[]> => {
    const { json } = await server.call("GET", `/api/conversations/${id}/queue`);
    return (json as { items: { event_id: string; message: object }[] }).items;
  };
  const texts = async (): Promise<string[]> =>
    (await queue()).map(({ message }) => /"text":"(\w+)"/.exec(JSON.stringify(message))![1]!);
  expect(await texts()).toEqual(["alphaword", "bravoword", "charlieword"]);
  await server.client.interrupt(id);
  await server.restart();
  // The request that had read the first message was given up: it waits again.
  expect(await texts()).toEqual(["go", "alphaword", "bravoword", "charlieword"]);
  const second = (await queue())[2]!.event_id;
  const remove = async () => server.call("DELETE", `/api/conversations/${id}/queue/${second}`);
  expect((await remove()).status).toBe(200);
  expect((await remove()).status).toBe(409);
  expect((await server.call("DELETE", `/api/conversations/${id}/queue/nobody`)).status).toBe(404);
  expect(await texts()).toEqual(["go", "alphaword", "charlieword"]);
  const before = server.model.requests.length;
  await server.client.run(id);
  await until(() => server.model.requests.length > before);
  const asked = server.model.requests[before]!.text;
  expect([asked.includes("alphaword"), asked.includes("bravoword"), asked.includes("charlieword")]).toEqual([
    true,
    false,
    true,
  ]);
});

test("P48: a budget is exceeded by at most one call; with a higher budget the run continues", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 0.4 };
  const turns = Array.from({ length: 5 }, (_, n) => ({ tool_calls: [shell(`step ${n}`)], usage }));
  await using server = await startTestServer({ script: { turns: [...turns, { text: "Done.", usage }] } });
  const { id } = await server.createConversation();
  const limit = async (body: object) => server.call("POST", `/api/conversations/${id}/limits`, body);
  await limit({ max_budget_per_task: 1 });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "go" }], run: true });
  await server.waitForStatus(id, "error");
  expect(ofKind(await server.events(id), "ConversationErrorEvent")).toMatchObject([
    { code: "MaxBudgetReached" },
  ]);
  const spend = await server.call("GET", `/api/conversations/${id}/spend`);
  expect(spend.json).toMatchObject({ max_budget_per_task: 1, calls: [{ cost: 0.4 }, {}, {}] });
  expect((spend.json as { cost: number }).cost).toBeCloseTo(1.2);
  expect(server.model.requests).toHaveLength(3);
  await limit({ max_budget_per_task: 10 });
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
  expect(server.model.requests).toHaveLength(6);
});

test("L23.26: a question while calls wait is answered beside the task and leaves nothing but its price", async () => {
  const script = {
    turns: [
      { match: { last_user_contains: "Which file" }, text: "The first one." },
      { match: { last_user_contains: "go" }, tool_calls: [shell("a")] },
    ],
  };
  await using server = await startTestServer({ script });
  const id = await server.runTo("waiting_for_confirmation", "go", always);
  const before = (await server.events(id)).length;
  const { json } = await server.call("POST", `/api/conversations/${id}/ask_agent`, {
    question: "Which file do you mean?",
  });
  expect(json).toEqual({ response: "The first one." });
  const added = (await server.events(id)).slice(before);
  expect(added).toMatchObject([{ kind: "ConversationStateUpdateEvent", key: "stats" }]);
  expect(JSON.stringify(added)).toContain("ask-agent-llm");
  expect((await server.client.getConversation(id)).execution_status).toBe("waiting_for_confirmation");
});

test("a fork has the log up to an event, runs on its own, and runs nothing that was open in its source", async () => {
  await using server = await startTestServer({ script: threeCalls });
  const id = await server.runTo("waiting_for_confirmation", "go", always);
  const source = await server.eventTexts(id);
  const forked = await server.call("POST", `/api/conversations/${id}/fork`, { title: "other way" });
  expect(forked.status, forked.text).toBe(201);
  const fork = forked.json as { id: string; forked_from_conversation_id: string };
  expect(fork.forked_from_conversation_id).toBe(id);
  expect((await server.eventTexts(fork.id)).slice(0, source.length)).toEqual(source);
  expect(ofKind(await server.events(fork.id), "AgentErrorEvent")).toHaveLength(3);
  expect(await server.client.getConversation(fork.id)).toMatchObject({ execution_status: "idle" });
  await server.client.run(fork.id);
  await server.waitForStatus(fork.id, "finished");
  expect(server.quickTools.started).toEqual([]);
  expect(await server.eventTexts(id)).toEqual(source);
  const [first] = await server.events(id);
  const short = await server.call("POST", `/api/conversations/${id}/fork`, { from_event_id: first!.id });
  expect(await server.events((short.json as { id: string }).id)).toHaveLength(1);
  const taken = await server.call("POST", `/api/conversations/${id}/fork`, { id: fork.id });
  expect(taken.status).toBe(409);
  const nowhere = await server.call("POST", `/api/conversations/${id}/fork`, { from_event_id: "nobody" });
  expect(nowhere.status).toBe(404);
});

test("the final response is the agent's last text; another model is used from the next call on", async () => {
  const finish = { name: "finish", arguments: { message: "All done." } };
  const script = { turns: [{ text: "First." }, { tool_calls: [finish] }] };
  await using server = await startTestServer({ script });
  const final = async (): Promise<unknown> =>
    (await server.call("GET", `/api/conversations/${id}/agent_final_response`)).json;
  const { id } = await server.createConversation();
  expect(await final()).toEqual({ response: "" });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "go" }], run: true });
  await server.waitForStatus(id, "finished");
  expect(await final()).toEqual({ response: "First." });
  const { agent } = await server.client.getConversation(id);
  const switched = await server.call("POST", `/api/conversations/${id}/switch_llm`, {
    llm: { ...agent.llm, model: "openai/second", api_key: "second-key" },
  });
  expect(switched.status, switched.text).toBe(200);
  await server.restart();
  await server.client.sendMessage(id, { content: [{ type: "text", text: "more" }], run: true });
  await server.waitForStatus(id, "finished");
  expect(await final()).toEqual({ response: "All done." });
  expect(server.model.requests[1]!.body).toMatchObject({ model: "second" });
  expect(JSON.stringify(await server.events(id))).not.toContain("second-key");
});

test("P48: an answer is recorded under the model that was called, also when the agent has another model by then", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 0.4 };
  const script = {
    turns: [
      { ...threeCalls.turns[0]!, usage },
      { text: "Done.", usage },
    ],
  };
  const { wrapModel, release } = holdAnswers();
  await using server = await startTestServer({ script, wrapModel });
  const { id } = await server.createConversation({ text: "go" });
  await until(() => server.model.requests.length === 1);
  const llm = { model: "openai/other", base_url: `${server.model.url}/v1`, api_key: "k", usage_id: "other" };
  const switched = await server.call("POST", `/api/conversations/${id}/switch_llm`, { llm });
  expect(switched.status, switched.text).toBe(200);
  release();
  await server.waitForStatus(id, "finished");
  const { stats } = await server.client.getConversation(id);
  const cost = { accumulated_cost: 0.4 };
  expect(stats?.usage_to_metrics).toMatchObject({
    default: cost,
    other: { ...cost, model_name: "openai/other" },
  });
});

test("an answer that was cut off at its limit is one final response, whole", async () => {
  const half = { text: "The first half, ", finish_reason: "length" as const };
  const script = {
    turns: [half, threeCalls.turns[0]!, half, { ...half, text: "the second, " }, { text: "the end." }],
  };
  await using server = await startTestServer({ script });
  const id = await server.runTo("finished", "go");
  const final = await server.call("GET", `/api/conversations/${id}/agent_final_response`);
  expect(final.json).toEqual({ response: "The first half, the second, the end." });
});
