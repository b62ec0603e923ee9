import type { WhileRunning } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

const hold = { tool_calls: [{ name: "terminal", arguments: { command: "hold" } }] };

type Item = { event_id: string; while_running: string; message: { content: { text: string }[] } };

/** A conversation whose first call runs until `quickTools.release()`. */
async function begin(server: TestServer, start: object = {}): Promise<string> {
  const { id } = await server.createConversation({ ...start, text: "first" });
  await until(() => server.quickTools.started.length > 0);
  return id;
}

async function send(
  server: TestServer,
  id: string,
  text: string,
  mode?: WhileRunning,
  more: object = {},
): Promise<{ status: number; json: unknown; eventId: string | null }> {
  const body = { content: [{ type: "text", text }], run: true, ...more };
  const reply = await server.call("POST", `/api/conversations/${id}/events`, {
    ...body,
    ...(mode === undefined ? {} : { while_running: mode }),
  });
  return { status: reply.status, json: reply.json, eventId: reply.headers.get("x-convoke-event-id") };
}

async function queue(server: TestServer, id: string): Promise<string[]> {
  const { json } = await server.call("GET", `/api/conversations/${id}/queue`);
  const { items } = json as { items: Item[] };
  return items.map(({ while_running: mode, message }) => `${mode} ${message.content[0]!.text}`);
}

/** The log in short: texts of messages, statuses, what became of queued messages, and kinds of the rest. */
async function linesOf(server: TestServer, id: string): Promise<string[]> {
  return (await server.events(id)).flatMap((event) => {
    if (event.kind === "MessageEvent") {
      const [part] = event.llm_message.content ?? [];
      return [`${event.source}: ${part && "text" in part ? part.text : ""}`];
    }
    if (event.kind !== "ConversationStateUpdateEvent") return [event.kind];
    if (event.key === "execution_status") return [String(event.value)];
    if (event.key === "queued_message") return [`queue ${(event.value as { status: string }).status}`];
    return [];
  });
}

/** How many of the words each request of the model had, in order. */
function read(server: TestServer, words: readonly string[]): string[] {
  return server.model.requests.map(({ text }) => words.filter((word) => text.includes(word)).join(" "));
}

test("a message says what happens while the agent works: steer, the default, is read with the next step of the run", async () => {
  await using server = await startTestServer({ script: { turns: [hold, { text: "done" }] } });
  const id = await begin(server);
  await send(server, id, "alpha");
  await send(server, id, "bravo", "steer");
  expect(await queue(server, id)).toEqual(["steer alpha", "steer bravo"]);
  server.quickTools.release();
  await server.waitForStatus(id, "finished");
  expect(read(server, ["alpha", "bravo"])).toEqual(["", "alpha bravo"]);
});

test("a message says what happens while the agent works: queue is a turn of its own after the run, over a restart", async () => {
  const turns = [hold, { text: "one" }, { text: "two" }, { text: "three" }];
  await using server = await startTestServer({ script: { turns } });
  const id = await begin(server);
  const first = await send(server, id, "alpha", "queue", { client_message_id: "a" });
  await send(server, id, "bravo", "queue");
  // Sent again, it is the same message.
  expect((await send(server, id, "alpha", "queue", { client_message_id: "a" })).eventId).toBe(first.eventId);
  expect(await queue(server, id)).toEqual(["queue alpha", "queue bravo"]);
  await server.restart();
  expect(await queue(server, id)).toEqual(["queue alpha", "queue bravo"]);
  server.quickTools.release();
  await until(() => server.model.requests.length === 4);
  await server.waitForStatus(id, "finished");
  expect(read(server, ["alpha", "bravo"])).toEqual(["", "", "alpha", "alpha bravo"]);
  expect((await linesOf(server, id)).slice(2)).toEqual([
    "running",
    "ActionEvent",
    "queue queued",
    "queue queued",
    "ObservationEvent",
    "agent: one",
    "finished",
    "idle",
    "queue delivered",
    "user: alpha",
    "running",
    "agent: two",
    "finished",
    "idle",
    "queue delivered",
    "user: bravo",
    "running",
    "agent: three",
    "finished",
  ]);
  expect(await queue(server, id)).toEqual([]);
});

test("queue: a message is withdrawn before it is delivered, and not after; a pause keeps it, a message delivers it before itself", async () => {
  const turns = [hold, { text: "one" }, { text: "two" }];
  await using server = await startTestServer({ script: { turns } });
  const id = await begin(server);
  const { eventId: alpha } = await send(server, id, "alpha", "queue");
  const { eventId: bravo } = await send(server, id, "bravo", "queue");
  const remove = async (event: string | null) =>
    (await server.call("DELETE", `/api/conversations/${id}/queue/${event}`)).status;
  expect([await remove(alpha), await remove(alpha)]).toEqual([200, 409]);
  await server.client.interrupt(id);
  await server.waitForStatus(id, "paused");
  expect(await queue(server, id)).toContain("queue bravo");
  await send(server, id, "charlie", "queue");
  await server.waitForStatus(id, "finished");
  expect(read(server, ["alpha", "bravo", "charlie"])).toEqual(["", "bravo charlie"]);
  expect(await remove(bravo)).toBe(409);
});

test("a message says what happens while the agent works: interrupt stops the step in progress, and the run continues with the message", async () => {
  await using server = await startTestServer({
    script: { turns: [{ hang: true }, { text: "done" }], select: "in_order" },
  });
  const { id } = await server.createConversation({ text: "first" });
  await until(() => server.model.requests.length === 1);
  await send(server, id, "alpha", "interrupt");
  await server.waitForStatus(id, "finished");
  expect(read(server, ["alpha"])).toEqual(["", "alpha"]);
  expect((await linesOf(server, id)).slice(1)).toEqual([
    "user: first",
    "running",
    "paused",
    "InterruptEvent",
    "user: alpha",
    "running",
    "agent: done",
    "finished",
  ]);
});

test("interrupt answers the calls in progress, and those that wait for an approval without running them", async () => {
  await using server = await startTestServer({
    script: { turns: [hold, { text: "done" }, hold, { text: "fine" }] },
  });
  const id = await begin(server);
  await send(server, id, "alpha", "interrupt", { run: false });
  await server.waitForStatus(id, "finished");
  expect((await linesOf(server, id)).filter((line) => /Error|Reject/.test(line))).toEqual([
    "AgentErrorEvent",
  ]);
  await server.call("POST", `/api/conversations/${id}/confirmation_policy`, {
    policy: { kind: "AlwaysConfirm" },
  });
  await send(server, id, "bravo");
  await server.waitForStatus(id, "waiting_for_confirmation");
  await send(server, id, "charlie", "interrupt");
  await server.waitForStatus(id, "finished");
  expect((await linesOf(server, id)).filter((line) => line.includes("Reject"))).toHaveLength(1);
  expect(server.quickTools.started).toEqual(["hold"]);
});

test("a message says what happens while the agent works: reject is a 409 that names the state, and nothing is stored", async () => {
  await using server = await startTestServer({ script: { turns: [hold, { text: "one" }, { text: "two" }] } });
  const id = await begin(server);
  const before = (await server.events(id)).length;
  const refused = await send(server, id, "alpha", "reject");
  expect(refused).toMatchObject({ status: 409, json: { code: "agent_at_work" } });
  expect(JSON.stringify(refused.json)).toContain("(running)");
  expect((await server.events(id)).length).toBe(before);
  server.quickTools.release();
  await server.waitForStatus(id, "finished");
  expect((await send(server, id, "alpha", "reject", { client_message_id: "a" })).status).toBe(200);
  await server.waitForStatus(id, "finished");
  // It was stored, whatever the agent does now.
  expect((await send(server, id, "alpha", "reject", { client_message_id: "a" })).status).toBe(200);
});

test("a message says what happens while the agent works: replace withdraws the sender's unread messages and takes their place", async () => {
  await using server = await startTestServer({ script: { turns: [hold, { text: "one" }, { text: "two" }] } });
  const id = await begin(server);
  await send(server, id, "alpha", "steer", { sender: "a" });
  await send(server, id, "bravo", "queue", { sender: "a" });
  await send(server, id, "zebra", "steer", { sender: "b" });
  await send(server, id, "charlie", "replace", { sender: "a" });
  expect(await queue(server, id)).toEqual(["steer zebra", "queue charlie"]);
  await send(server, id, "delta", "replace", { sender: "b" });
  expect(await queue(server, id)).toEqual(["steer delta", "queue charlie"]);
  server.quickTools.release();
  await until(() => server.model.requests.length === 3);
  await server.waitForStatus(id, "finished");
  const words = ["alpha", "bravo", "zebra", "charlie", "delta"];
  expect(read(server, words)).toEqual(["", "delta", "charlie delta"]);
});

test("what happens while the agent works is by default a setting of the conversation, or of its user", async () => {
  await using server = await startTestServer({
    script: { turns: [hold, { text: "one" }, { text: "two" }, { text: "three" }] },
  });
  const settings = async (mode: string | null) =>
    await server.call("PATCH", "/api/settings", { conversation_settings_diff: { while_running: mode } });
  expect((await settings("reject")).status).toBe(200);
  expect((await settings("sometimes")).status).toBe(422);
  const id = await begin(server);
  expect(await server.client.getConversation(id)).toMatchObject({ while_running: "reject" });
  expect((await send(server, id, "alpha")).status).toBe(409);
  const changed = await server.call("PATCH", `/api/conversations/${id}`, { while_running: "queue" });
  expect(changed.status).toBe(200);
  await send(server, id, "bravo");
  await send(server, id, "charlie", "steer");
  expect(await queue(server, id)).toEqual(["steer charlie", "queue bravo"]);
  await server.call("PATCH", `/api/conversations/${id}`, { while_running: null });
  await send(server, id, "delta");
  expect(await queue(server, id)).toEqual(["steer charlie", "steer delta", "queue bravo"]);
  expect((await send(server, id, "echo", "later" as WhileRunning)).status).toBe(422);
  await server.call("PATCH", `/api/conversations/${id}`, { while_running: "queue" });
  await server.restart();
  expect(await server.client.getConversation(id)).toMatchObject({ while_running: "queue" });
  server.quickTools.release();
  await server.waitForStatus(id, "finished");
});

test("a socket takes what a message does while the agent works, and reports its refusals", async () => {
  await using server = await startTestServer({ script: { turns: [hold, { text: "one" }, { text: "two" }] } });
  const id = await begin(server);
  const socket = new WebSocket(
    `${server.url.replace("http", "ws")}/sockets/events/${id}?session_api_key=${server.key}`,
  );
  const frames: Record<string, unknown>[] = [];
  socket.addEventListener("message", ({ data }) =>
    frames.push(JSON.parse(String(data)) as Record<string, unknown>),
  );
  await until(() => frames.length > 0);
  const message = { role: "user", content: "alpha" };
  socket.send(JSON.stringify({ ...message, client_message_id: "a", while_running: "queue" }));
  await until(() => frames.some(({ kind }) => kind === "Accepted"));
  expect(await queue(server, id)).toEqual(["queue alpha"]);
  socket.send(JSON.stringify({ ...message, while_running: "reject" }));
  socket.send(JSON.stringify({ ...message, while_running: "never" }));
  await until(() => frames.filter(({ kind }) => kind === "ServerErrorEvent").length === 2);
  const codes = frames.filter(({ kind }) => kind === "ServerErrorEvent").map(({ code }) => code);
  expect(new Set(codes)).toEqual(new Set(["agent_at_work", "invalid_message"]));
  socket.close();
  server.quickTools.release();
  await until(() => server.model.requests.length === 3);
  await server.waitForStatus(id, "finished");
});
