import type { Event } from "@convoke/protocol";
import { describe, expect, test } from "vitest";
import { holdAnswers } from "../../../testing/hold-answers.ts";
import type { Script } from "../../../testing/scripted-model/script.ts";
import { startTestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

const shell = (command: string) => ({ name: "terminal", arguments: { command } });
const oneTool: Script = { turns: [{ tool_calls: [shell("rm it")] }, { text: "Done." }] };

const statuses = (events: readonly Event[]): unknown[] =>
  events.flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "execution_status" ? [event.value] : [],
  );

describe("what is set stays set", () => {
  test("W1: the policy holds over a restart and over eviction; the next risky call is asked for", async () => {
    await using server = await startTestServer({ script: oneTool, config: { conversationIdleSeconds: 0 } });
    const { id } = await server.createConversation();
    await server.client.setConfirmationPolicy(id, { kind: "AlwaysConfirm" });
    await server.client.setSecurityAnalyzer(id, { kind: "LLMSecurityAnalyzer" });
    await server.restart();
    const info = await server.client.getConversation(id);
    expect(info).toMatchObject({
      confirmation_policy: { kind: "AlwaysConfirm" },
      security_analyzer: { kind: "LLMSecurityAnalyzer" },
    });
    await server.client.sendMessage(id, { content: [{ type: "text", text: "go" }], run: true });
    await server.waitForStatus(id, "waiting_for_confirmation");
    await server.restart();
    expect(await server.client.getConversation(id)).toMatchObject({
      execution_status: "waiting_for_confirmation",
    });
    expect(server.quickTools.started).toEqual([]);
    await server.client.respondToConfirmation(id, true);
    await server.waitForStatus(id, "finished");
    expect(server.quickTools.started).toEqual(["rm it"]);
  });

  test("title, tags, policy and names of secrets are read back as they were sent (P55)", async () => {
    await using server = await startTestServer();
    const { id } = await server.createConversation({
      title: " Mine ",
      tags: { team: "a" },
      max_iterations: 7,
      stuck_detection: false,
      secrets: { TOKEN: { kind: "StaticSecret", value: "v", description: "for x" } },
    });
    await server.client.updateConversation(id, { title: "Other", tags: { team: "b" } });
    await server.restart();
    expect(await server.client.getConversation(id)).toMatchObject({
      title: "Other",
      tags: { team: "b" },
      max_iterations: 7,
      stuck_detection: false,
      secret_registry: {
        secret_sources: { TOKEN: { kind: "StaticSecret", value: null, description: "for x" } },
      },
    });
  });
});

test("W3: a message that lands during the last model call is answered in the same run", async () => {
  const script = { turns: [{ text: "First." }, { text: "Second." }] };
  const { wrapModel, release } = holdAnswers();
  await using server = await startTestServer({ script, wrapModel });
  const { id } = await server.createConversation({ text: "one" });
  await until(() => server.model.requests.length === 1);
  await server.client.sendMessage(id, { content: [{ type: "text", text: "two" }] });
  release();
  await server.waitForStatus(id, "finished");
  expect(server.model.requests).toHaveLength(2);
  expect(statuses(await server.events(id))).toEqual(["running", "finished"]);
});

test("W4, L23.7: a pause during a model call holds when the answer comes; run resumes from there", async () => {
  const script = { turns: [{ tool_calls: [shell("after pause")] }, { text: "Done." }] };
  const { wrapModel, release } = holdAnswers();
  await using server = await startTestServer({ script, wrapModel });
  const { id } = await server.createConversation({ text: "go" });
  await until(() => server.model.requests.length === 1);
  await server.client.pause(id);
  release();
  await until(async () => (await server.events(id)).some(({ kind }) => kind === "ActionEvent"));
  expect(await server.client.getConversation(id)).toMatchObject({ execution_status: "paused" });
  expect(server.quickTools.started).toEqual([]);
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["after pause"]);
});

test("a message has its sender, when the request names one", async () => {
  await using server = await startTestServer();
  const { id } = await server.createConversation();
  for (const sender of ["ada", null, undefined]) {
    const reply = await server.call("POST", `/api/conversations/${id}/events`, { content: "hi", sender });
    expect(reply.status).toBe(200);
  }
  const messages = (await server.events(id)).filter(({ kind }) => kind === "MessageEvent");
  expect(messages.map((event) => (event as { sender?: unknown }).sender ?? null)).toEqual([
    "ada",
    null,
    null,
  ]);
});

describe("P18: one message, however often it is sent", () => {
  test.each([
    [
      "client_message_id",
      (text: string) => [{ content: text, run: true, client_message_id: "m-1" }, {}] as const,
    ],
    [
      "Idempotency-Key",
      (text: string) => [{ content: text, run: true }, { "Idempotency-Key": "m-1" }] as const,
    ],
  ])("%s, twenty times in parallel, after a restart, and with other content", async (_by, make) => {
    await using server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
    const { id } = await server.createConversation();
    const send = async (text: string) => {
      const [body, headers] = make(text);
      return (await server.call("POST", `/api/conversations/${id}/events`, body, headers)).status;
    };
    expect(await Promise.all(Array.from({ length: 20 }, () => send("hi")))).toEqual(Array(20).fill(200));
    await server.waitForStatus(id, "finished");
    await server.restart();
    expect(await send("hi")).toBe(200);
    expect(await send("other")).toBe(409);
    const log = await server.events(id);
    expect(log.filter(({ kind, source }) => kind === "MessageEvent" && source === "user")).toHaveLength(1);
    expect(server.model.requests).toHaveLength(1);
  });

  test("an empty header is none, one that is too long is a 422", async () => {
    await using server = await startTestServer();
    const { id } = await server.createConversation();
    const send = (key: string) =>
      server.call("POST", `/api/conversations/${id}/events`, { content: "x" }, { "Idempotency-Key": key });
    expect([(await send("")).status, (await send("")).status]).toEqual([200, 200]);
    expect(await server.client.countEvents(id, { kind: "MessageEvent" })).toBe(2);
    expect((await send("x".repeat(201))).json).toMatchObject({
      detail: [{ loc: ["header", "Idempotency-Key"] }],
    });
  });
});

describe("P43: stop", () => {
  test("ten times the same, then idle: nothing starts after the first answer", async () => {
    const script = { turns: [{ tool_calls: [shell("hold 1"), shell("never")] }, { text: "never" }] };
    await using server = await startTestServer({ script });
    const { id } = await server.createConversation({ text: "go" });
    await until(() => server.quickTools.started.length === 1);
    const stop = () => server.client.stop(id);
    expect(await stop()).toMatchObject({ status: "ok", conversation_id: id, conversation_status: "RUNNING" });
    const asked = server.model.requests.length;
    for (let n = 0; n < 9; n++) expect((await stop()).conversation_status).toBe("STOPPED");
    await server.restart();
    expect(await server.client.getConversation(id)).toMatchObject({ execution_status: "paused" });
    expect(server.model.requests).toHaveLength(asked);
    expect(server.quickTools.started).toEqual(["hold 1"]);
    const log = await server.events(id);
    const actions = log.filter(({ kind }) => kind === "ActionEvent").length;
    expect(log.filter(({ kind }) => kind === "AgentErrorEvent")).toHaveLength(actions);
  });

  test("a stop during a model call: the answer is not wanted any more", async () => {
    await using server = await startTestServer({ script: { turns: [{ hang: true }] } });
    const { id } = await server.createConversation({ text: "go" });
    await until(() => server.model.requests.length === 1);
    await server.client.stop(id);
    expect(statuses(await server.events(id))).toEqual(["running", "paused"]);
  });
});
