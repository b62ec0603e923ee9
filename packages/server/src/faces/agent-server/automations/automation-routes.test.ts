import type { Automation, AutomationRun, CreatedAutomation } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const hourly = { kind: "cron", expression: "0 * * * *", time_zone: "Europe/Berlin" };
const answer = { script: { turns: [{ text: "Done." }], loop: true } };

async function useModel(server: TestServer): Promise<void> {
  const stored = await server.call("POST", "/api/settings", {
    llm_model: "openai/scripted",
    llm_base_url: `${server.model.url}/v1`,
    llm_api_key: "canary-key",
  });
  expect(stored.status, stored.text).toBe(200);
}

async function create(server: TestServer, more: object = {}): Promise<CreatedAutomation> {
  const body = {
    name: "links",
    trigger: hourly,
    prompt: "Look for broken links.",
    conversation: { working_dir: server.workspaceDir },
    ...more,
  };
  const { status, text, json } = await server.call("POST", "/api/automations", body);
  expect(status, text).toBe(201);
  return json as CreatedAutomation;
}

async function runsOf(server: TestServer, { id }: Pick<Automation, "id">): Promise<AutomationRun[]> {
  const { json } = await server.call("GET", `/api/automations/${id}/runs`);
  return (json as { items: AutomationRun[] }).items;
}

async function runTo(
  server: TestServer,
  automation: Pick<Automation, "id">,
  state: AutomationRun["state"],
): Promise<AutomationRun> {
  await expect.poll(async () => (await runsOf(server, automation))[0]?.state).toBe(state);
  return (await runsOf(server, automation))[0]!;
}

test("an automation is created, listed, changed, paused, resumed and deleted by its owner alone", async () => {
  await using server = await startTestServer();
  const made = await create(server, { approvals: { on_ask: "wait", timeout_seconds: 60 } });
  expect(made).toMatchObject({ name: "links", is_paused: false, owner: "local", hook_secret: null });
  expect(made.next_due_at).toMatch(/:00:00\.000Z$/);
  const path = `/api/automations/${made.id}`;
  const { hook_secret: _, ...shown } = made;
  expect((await server.call("GET", path)).json).toEqual(shown);
  const second = await create(server, { name: "second" });
  const pageOne = (await server.call("GET", "/api/automations?limit=1")).json as { next_page_id: string };
  expect(pageOne).toMatchObject({ items: [{ id: second.id }], next_page_id: second.id });
  const pageTwo = await server.call("GET", `/api/automations?limit=1&page_id=${pageOne.next_page_id}`);
  expect(pageTwo.json).toMatchObject({ items: [{ id: made.id }], next_page_id: null });
  const paused = await server.call("POST", `${path}/pause`);
  expect(paused.json).toMatchObject({ is_paused: true, next_due_at: null });
  expect((await server.call("GET", `${path}/due_times`)).json).toEqual({ due_times: [] });
  expect((await server.call("POST", `${path}/resume`)).json).toMatchObject({ next_due_at: made.next_due_at });
  const patch = { name: "daily", trigger: { ...hourly, expression: "30 2 * * *" } };
  expect((await server.call("PATCH", path, patch)).json).toMatchObject({ ...patch, prompt: made.prompt });
  const { json } = await server.call("GET", `${path}/due_times?count=3`);
  expect((json as { due_times: string[] }).due_times).toHaveLength(3);
  await using keys = await server.openKeys();
  const stranger = { "X-Session-API-Key": (await keys.store.create("bob", "")).key };
  expect((await server.call("GET", path, undefined, stranger)).status).toBe(404);
  expect((await server.call("GET", "/api/automations", undefined, stranger)).json).toMatchObject({
    items: [],
  });
  expect((await server.call("DELETE", path)).status).toBe(204);
  expect((await server.call("GET", path)).status).toBe(404);
});

test("what cannot be used is refused by the name of its field", async () => {
  await using server = await startTestServer();
  const refused = async (more: object): Promise<unknown> => {
    const body = { name: "a", trigger: hourly, prompt: "Go.", ...more };
    const { status, json } = await server.call("POST", "/api/automations", body);
    expect(status).toBe(422);
    return (json as { detail: { loc: unknown }[] }).detail.map(({ loc }) => loc);
  };
  const trigger = ["body", "trigger"];
  expect(await refused({ trigger: { ...hourly, time_zone: "Mars/Base" } })).toEqual([
    [...trigger, "time_zone"],
  ]);
  expect(await refused({ trigger: { ...hourly, expression: "0 0 30 2 *" } })).toEqual([
    [...trigger, "expression"],
  ]);
  expect(await refused({ trigger: { ...hourly, expression: "* * * * * *" } })).toEqual([
    [...trigger, "expression"],
  ]);
  expect(await refused({ trigger: { ...hourly, expression: "@reboot" } })).toEqual([
    [...trigger, "expression"],
  ]);
  expect(await refused({ trigger: { kind: "interval", every_seconds: 59 } })).toEqual([
    [...trigger, "every_seconds"],
  ]);
  expect(await refused({ trigger: { kind: "once", at: "2020-01-01T00:00:00Z" } })).toEqual([
    [...trigger, "at"],
  ]);
  expect(await refused({ prompt: "{{who}}" })).toEqual([["body", "prompt"]]);
  expect(await refused({ prompt: "{{payload.a}}" })).toEqual([["body", "prompt"]]);
  expect(await refused({ hook_secret: "0123456789abcdef" })).toEqual([["body", "hook_secret"]]);
  const repository = { url: "https://git.example.com/a.git" };
  expect(await refused({ conversation: { working_dir: "/tmp", repository } })).toEqual([
    ["body", "conversation", "repository"],
  ]);
  const preview = { trigger: { kind: "interval", every_seconds: 3600 }, count: 2 };
  const { json } = await server.call("POST", "/api/automations/preview", preview);
  expect((json as { due_times: string[] }).due_times).toHaveLength(2);
});

test("a run that is ordered starts a conversation of the owner, once for each request id", async () => {
  await using server = await startTestServer(answer);
  await useModel(server);
  const automation = await create(server, {
    prompt: "It is {{due_time}}.",
    conversation: { working_dir: server.workspaceDir, max_iterations: 7, tags: { team: "docs" } },
  });
  const path = `/api/automations/${automation.id}/run`;
  const first = await server.call("POST", path, { request_id: "one" });
  expect(first.status, first.text).toBe(201);
  const run = await runTo(server, automation, "finished");
  const again = await server.call("POST", path, { request_id: "one" });
  expect(again.json).toEqual(run);
  expect(await runsOf(server, automation)).toEqual([run]);
  const conversation = await server.client.getConversation(run.conversation_id!);
  expect(conversation).toMatchObject({
    tags: { team: "docs", automation: automation.id },
    max_iterations: 7,
    execution_status: "finished",
  });
  const texts = (await server.eventTexts(run.conversation_id!)).join("\n");
  expect(texts).toContain("[data: due_time]");
  expect(texts).toContain("They are data");
});

test("a due time starts a conversation, also over a restart", async () => {
  await using server = await startTestServer(answer);
  await useModel(server);
  const soon = await create(server, {
    trigger: { kind: "once", at: new Date(Date.now() + 300).toISOString() },
  });
  await runTo(server, soon, "finished");
  const later = await create(server, {
    trigger: { kind: "once", at: new Date(Date.now() + 400).toISOString() },
  });
  await server.restart();
  const run = await runTo(server, later, "finished");
  expect(run).toMatchObject({ origin: "schedule", due_at: later.next_due_at, count: 1 });
  const { json } = await server.call("GET", `/api/automations/${later.id}`);
  expect(json).toMatchObject({ next_due_at: null, is_paused: false });
});

test("a start that is refused is in the history with its reason", async () => {
  await using server = await startTestServer(answer);
  const withoutModel = await create(server);
  await server.call("POST", `/api/automations/${withoutModel.id}/run`);
  expect((await runTo(server, withoutModel, "failed")).reason).toMatch(/^agent/);
  await useModel(server);
  const named = await create(server, { conversation: { llm_profile: "gone" } });
  await server.call("POST", `/api/automations/${named.id}/run`);
  expect((await runTo(server, named, "failed")).reason).toContain("There is no stored model gone");
  const policy = await server.call("PUT", "/api/policies/*", { conversations: 0 });
  expect(policy.status, policy.text).toBe(200);
  await server.call("POST", `/api/automations/${withoutModel.id}/run`);
  await expect
    .poll(async () => (await runsOf(server, withoutModel)).map(({ state }) => state))
    .toEqual(["failed", "failed"]);
  expect((await runsOf(server, withoutModel))[0]!.reason).toContain("conversations");
});

test("what needs an approval is rejected, and the run goes on", async () => {
  const turns = [{ tool_calls: [{ name: "terminal", arguments: { command: "look" } }] }, { text: "Done." }];
  await using server = await startTestServer({ script: { turns } });
  await useModel(server);
  const automation = await create(server, {
    conversation: { working_dir: server.workspaceDir, confirmation_policy: { kind: "AlwaysConfirm" } },
  });
  await server.call("POST", `/api/automations/${automation.id}/run`);
  const run = await runTo(server, automation, "finished");
  expect(server.quickTools.started).toEqual([]);
  const kinds = (await server.events(run.conversation_id!)).map(({ kind }) => kind);
  expect(kinds).toContain("UserRejectObservation");
});

test("a webhook gets a secret of the server's choice, which is shown once", async () => {
  await using server = await startTestServer();
  const made = await create(server, {
    trigger: { kind: "webhook", form: "github" },
    prompt: "{{payload.a}}",
  });
  expect(made).toMatchObject({ has_hook_secret: true, next_due_at: null });
  expect(made.hook_secret).toMatch(/^whsec_[\w+/]{43}=$/);
  const { text } = await server.call("GET", `/api/automations/${made.id}`);
  expect(text).not.toContain(made.hook_secret);
  const path = `/api/automations/${made.id}`;
  expect((await server.call("PATCH", path, { trigger: hourly })).status).toBe(422);
  const scheduled = await server.call("PATCH", path, { trigger: hourly, prompt: "Go." });
  expect(scheduled.json).toMatchObject({ has_hook_secret: false, trigger: hourly });
  expect((await server.call("PATCH", path, { trigger: { kind: "webhook", form: "hmac" } })).status).toBe(422);
});
