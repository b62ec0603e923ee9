import type { Event } from "@convoke/protocol";
import { describe, expect, test } from "vitest";
import type { Script } from "../../testing/scripted-model/script.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

const shell = (command: string) => ({ name: "terminal", arguments: { command } });
const oneTool: Script = { turns: [{ tool_calls: [shell("rm it")] }, { text: "Done." }] };

const kinds = (events: readonly Event[]): string[] => events.map(({ kind }) => kind);
const statuses = (events: readonly Event[]): unknown[] =>
  events.flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "execution_status" ? [event.value] : [],
  );

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 5_000;
  while (!(await isTrue())) {
    if (performance.now() > deadlineMs) throw new Error("It did not happen.");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function events(server: TestServer, id: string): Promise<Event[]> {
  return await Array.fromAsync(server.client.events(id));
}

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

  test.each([
    ["client_tools", { client_tools: [{ name: "x" }] }],
    ["plugins", { plugins: [{ source: "x" }] }],
    ["hook_config", { hook_config: { pre_tool_use: [{ matcher: "*", hooks: [{ command: "x" }] }] } }],
    ["tool_module_qualnames", { tool_module_qualnames: { x: "os" } }],
    ["agent_profile_id", { agent_profile_id: "00000000-0000-4000-8000-000000000000" }],
    ["conversation_id", { conversation_id: "000000000000-4000-8000-000000000000" }],
    ["title", { title: "   " }],
    ["max_iterations", { max_iterations: 0 }],
    ["confirmation_policy", { confirmation_policy: { kind: "ConfirmRisky", threshold: "UNKNOWN" } }],
    ["initial_message", { initial_message: { role: "assistant", content: "x" } }],
  ])(
    "P55: a create with %s that cannot be honoured is a 422 that names it, and creates nothing",
    async (field, extra) => {
      await using server = await startTestServer();
      const reply = await server.call("POST", "/api/conversations", { ...server.startRequest(), ...extra });
      expect(reply.status).toBe(422);
      expect(reply.json).toMatchObject({ detail: [{ loc: expect.arrayContaining(["body", field]) }] });
      expect(await server.client.countConversations()).toBe(0);
    },
  );
});

describe("approval", () => {
  test("W2: a message while waiting never approves; after the rejection it is answered", async () => {
    await using server = await startTestServer({ script: oneTool });
    const id = await server.runTo("waiting_for_confirmation", "go", {
      confirmation_policy: { kind: "AlwaysConfirm" },
    });
    await server.client.sendMessage(id, { content: [{ type: "text", text: "do not do that!" }], run: true });
    expect(await server.client.getConversation(id)).toMatchObject({
      execution_status: "waiting_for_confirmation",
    });
    await server.client.respondToConfirmation(id, false, "too risky");
    await server.waitForStatus(id, "finished");
    expect(server.quickTools.started).toEqual([]);
    const log = await events(server, id);
    expect(log.find(({ kind }) => kind === "UserRejectObservation")).toMatchObject({
      rejection_reason: "too risky",
      rejection_source: "user",
    });
  });

  test("a rejection alone does not run; a late second answer does nothing", async () => {
    await using server = await startTestServer({ script: oneTool });
    const id = await server.runTo("waiting_for_confirmation", "go", {
      confirmation_policy: { kind: "AlwaysConfirm" },
    });
    await server.client.respondToConfirmation(id, false);
    await server.client.respondToConfirmation(id, false);
    expect(await server.client.getConversation(id)).toMatchObject({ execution_status: "idle" });
    const log = await events(server, id);
    expect(kinds(log).filter((kind) => kind === "UserRejectObservation")).toHaveLength(1);
    expect(server.model.requests).toHaveLength(1);
  });

  test.each([
    ["NeverConfirm", { kind: "NeverConfirm" }, "HIGH", false],
    ["AlwaysConfirm", { kind: "AlwaysConfirm" }, "LOW", true],
    ["ConfirmRisky, a LOW call", { kind: "ConfirmRisky" }, "LOW", false],
    ["ConfirmRisky, a MEDIUM call", { kind: "ConfirmRisky" }, "MEDIUM", false],
    ["ConfirmRisky, a HIGH call", { kind: "ConfirmRisky" }, "HIGH", true],
    ["ConfirmRisky, an unrated call", { kind: "ConfirmRisky" }, undefined, true],
    [
      "ConfirmRisky without confirm_unknown, an unrated call",
      { kind: "ConfirmRisky", confirm_unknown: false },
      undefined,
      false,
    ],
    [
      "ConfirmRisky from MEDIUM, a MEDIUM call",
      { kind: "ConfirmRisky", threshold: "MEDIUM" },
      "MEDIUM",
      true,
    ],
  ] as const)("%s: waits %s", async (_what, policy, risk, waits) => {
    const args = { command: "rm it", ...(risk === undefined ? {} : { security_risk: risk }) };
    const script = { turns: [{ tool_calls: [{ name: "terminal", arguments: args }] }, { text: "Done." }] };
    await using server = await startTestServer({ script });
    await server.runTo(waits ? "waiting_for_confirmation" : "finished", "go", {
      confirmation_policy: policy,
      security_analyzer: { kind: "LLMSecurityAnalyzer" },
    });
    expect(server.quickTools.started).toEqual(waits ? [] : ["rm it"]);
  });

  test("a lone finish or think never asks, a read-only tool is LOW", async () => {
    const script = {
      turns: [
        { tool_calls: [{ name: "think", arguments: { thought: "hm" } }] },
        { tool_calls: [{ name: "grep", arguments: { pattern: "x" } }] },
        { tool_calls: [{ name: "finish", arguments: { message: "Done." } }] },
      ],
    };
    await using server = await startTestServer({ script });
    const id = await server.runTo("waiting_for_confirmation", "go", {
      confirmation_policy: { kind: "AlwaysConfirm" },
    });
    await server.client.respondToConfirmation(id, true);
    await server.waitForStatus(id, "finished");
    const actions = (await events(server, id)).filter((event) => event.kind === "ActionEvent");
    expect(actions.map((event) => [event.tool_name, event.security_risk])).toEqual([
      ["think", "LOW"],
      ["grep", "LOW"],
      ["finish", "LOW"],
    ]);
    expect(statuses(await events(server, id))).toEqual([
      "running",
      "waiting_for_confirmation",
      "running",
      "finished",
    ]);
  });
});

test("W3: a message that lands during the last model call is answered in the same run", async () => {
  const script = { turns: [{ text: "First.", delay_ms: 60 }, { text: "Second." }] };
  await using server = await startTestServer({ script });
  const { id } = await server.createConversation({ text: "one" });
  await until(() => server.model.requests.length === 1);
  await server.client.sendMessage(id, { content: [{ type: "text", text: "two" }] });
  await server.waitForStatus(id, "finished");
  expect(server.model.requests).toHaveLength(2);
  expect(statuses(await events(server, id))).toEqual(["running", "finished"]);
});

test("W4: a pause during a model call holds when the answer comes; run goes on from there", async () => {
  const script = { turns: [{ tool_calls: [shell("after pause")], delay_ms: 60 }, { text: "Done." }] };
  await using server = await startTestServer({ script });
  const { id } = await server.createConversation({ text: "go" });
  await until(() => server.model.requests.length === 1);
  await server.client.pause(id);
  await until(async () => (await events(server, id)).some(({ kind }) => kind === "ActionEvent"));
  expect(await server.client.getConversation(id)).toMatchObject({ execution_status: "paused" });
  expect(server.quickTools.started).toEqual([]);
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual(["after pause"]);
});

describe("create", () => {
  test.each([
    ["without a run flag", { content: "hi" }, "finished"],
    ["as plain text", "hi", "finished"],
    ["with run: false", { content: "hi", run: false }, "idle"],
  ])("W26: an initial message %s leads to %s", async (_what, initial_message, status) => {
    await using server = await startTestServer({ script: { turns: [{ text: "Hello." }] } });
    const reply = await server.call("POST", "/api/conversations", {
      ...server.startRequest(),
      initial_message,
    });
    expect(reply.status).toBe(201);
    const { id } = reply.json as { id: string };
    await server.waitForStatus(id, status);
    expect(await server.client.countEvents(id, { kind: "MessageEvent", source: "user" })).toBe(1);
  });

  test("P18: one id, created twenty times at once: one 201, one message, one run", async () => {
    await using server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
    const body = server.startRequest({ conversation_id: "11111111-0000-4000-8000-000000000001", text: "hi" });
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => server.call("POST", "/api/conversations", body)),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([...Array<number>(19).fill(200), 201]);
    await server.waitForStatus(body.conversation_id!, "finished");
    const log = await events(server, body.conversation_id!);
    expect(kinds(log).filter((kind) => kind === "MessageEvent")).toHaveLength(2);
    expect(server.model.requests).toHaveLength(1);
  });

  test("one id with different first messages at once: one of them stands, nobody gets an error", async () => {
    await using server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
    const id = "22222222-0000-4000-8000-000000000001";
    const replies = await Promise.all(
      ["a", "b", "c", "d"].map((text) =>
        server.call("POST", "/api/conversations", server.startRequest({ conversation_id: id, text })),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 201]);
    expect(await server.client.countEvents(id, { kind: "MessageEvent", source: "user" })).toBe(1);
  });

  test("an unknown tool and a working directory that cannot be made are refused by name", async () => {
    await using server = await startTestServer();
    const { agent, workspace } = server.startRequest();
    const unknown = await server.call("POST", "/api/conversations", {
      agent: { ...agent, tools: [{ name: "magic" }] },
      workspace,
    });
    expect(unknown.status).toBe(422);
    expect(unknown.text).toContain("magic");
    for (const working_dir of ["/dev/null/x", "a\u0000b"]) {
      const bad = await server.call("POST", "/api/conversations", {
        agent,
        workspace: { kind: "LocalWorkspace", working_dir },
      });
      expect(bad.status).toBe(422);
      expect(bad.json).toMatchObject({ detail: [{ loc: ["body", "workspace", "working_dir"] }] });
    }
  });
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
    const log = await events(server, id);
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
    const log = await events(server, id);
    const actions = log.filter(({ kind }) => kind === "ActionEvent").length;
    expect(log.filter(({ kind }) => kind === "AgentErrorEvent")).toHaveLength(actions);
  });

  test("a stop during a model call: the answer is not wanted any more", async () => {
    await using server = await startTestServer({ script: { turns: [{ hang: true }] } });
    const { id } = await server.createConversation({ text: "go" });
    await until(() => server.model.requests.length === 1);
    await server.client.stop(id);
    expect(statuses(await events(server, id))).toEqual(["running", "paused"]);
  });
});
