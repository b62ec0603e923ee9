import { emptyView, foldItem, type ConversationView, type FollowItem } from "@convoke/client";
import { expect, test } from "vitest";
import { holdAnswers } from "../../../testing/hold-answers.ts";
import { startTestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";
import { until } from "../../../testing/until.ts";

const turns = [{ text: "Hello." }];
const text = (content: string) => ({ content: [{ type: "text" as const, text: content }] });

test("S10, P18: the id of a sent message comes with the reply, the same one when it is sent again", async () => {
  await using server = await startTestServer({ script: { turns, loop: true } });
  const { id } = await server.createConversation();
  const message = { ...text("hi"), client_message_id: "one" };
  const eventId = await server.client.sendMessage(id, message);
  expect(await server.client.getEvent(id, eventId!)).toMatchObject({ kind: "MessageEvent", source: "user" });
  expect(await server.client.sendMessage(id, message)).toBe(eventId);
});

test("S10: a socket is told which event its message became, if it gave it an id of its own", async () => {
  await using server = await startTestServer({ script: { turns, loop: true } });
  const { id } = await server.createConversation();
  using socket = new TestSocket(`${server.url}/sockets/events/${id}?session_api_key=${server.key}`);
  await socket.opened;
  socket.send({ role: "user", content: "plain" });
  socket.send({ role: "user", content: "named", client_message_id: "two" });
  await socket.until((frames) => frames.some(({ kind }) => kind === "Accepted"));
  const [accepted, ...others] = socket.events.filter(({ kind }) => kind === "Accepted");
  expect(others).toEqual([]);
  expect(accepted).toMatchObject({ client_message_id: "two" });
  const event = await server.client.getEvent(id, String(accepted!["event_id"]));
  expect(event).toMatchObject({ llm_message: { content: [{ text: "named" }] } });
});

test("S7: large events are trimmed for clients that request it, on every route, and whole for all others", async () => {
  await using server = await startTestServer({ script: { turns, loop: true } });
  const { id } = await server.createConversation();
  const long = "word ".repeat(10_000);
  const eventId = (await server.client.sendMessage(id, text(long)))!;
  const whole = (await server.eventTexts(id)).find((json) => json.includes(eventId))!;
  const { client } = server;
  const { events, trimmed } = await client.tail(id, { trim: 1_024 });
  const short = events.find((event) => event.id === eventId);
  expect(short).toMatchObject({ llm_message: { content: [{ text: long.slice(0, 1_024) }] } });
  expect(trimmed.get(eventId)).toMatchObject({
    size: whole.length,
    cut: [{ at: "/llm_message/content/0/text", length: long.length }],
  });
  const path = `/api/conversations/${id}/events`;
  for (const address of [`${path}/${eventId}?trim=1024`, `${path}?ids=${eventId}&trim=1024`]) {
    const reply = await server.call("GET", address);
    expect([reply.json as object[] | object].flat()[0]).toMatchObject({ kind: "TrimmedEvent", id: eventId });
  }
  expect((await server.call("GET", `${path}/${eventId}`)).text).toBe(whole);
  expect((await server.call("GET", `${path}/search?trim=7`)).status).toBe(422);
  const items: FollowItem[] = [];
  for await (const item of client.follow(id, { afterEventId: null, trim: 1_024 })) {
    items.push(item);
    if (item.type === "event" && item.event.id === eventId) break;
  }
  expect(items.at(-1)).toMatchObject({ event: short, trimmed: trimmed.get(eventId) });
  using wrong = new TestSocket(`${server.url}/sockets/events/${id}?trim=7&session_api_key=${server.key}`);
  expect(await wrong.opened).toBe(403);
});

test("S9, P13: progress of a tool is sent to clients that request it, masked, and is never stored", async () => {
  const call = { name: "terminal", arguments: { command: "tell hunter2-secret is said" } };
  await using server = await startTestServer({ script: { turns: [{ tool_calls: [call] }, ...turns] } });
  const { id } = await server.createConversation();
  await server.client.updateSecrets(id, { PASSWORD: "hunter2-secret" });
  const address = `${server.url}/sockets/events/${id}?session_api_key=${server.key}`;
  using asking = new TestSocket(`${address}&progress=true`);
  using other = new TestSocket(address);
  await Promise.all([asking.untilCount(1), other.untilCount(1)]);
  await server.client.sendMessage(id, { ...text("go"), run: true });
  await asking.until((frames) => frames.some(({ kind }) => kind === "ToolProgress"));
  const progress = asking.events.find(({ kind }) => kind === "ToolProgress")!;
  const action = (await server.events(id)).find(({ kind }) => kind === "ActionEvent")!;
  expect(progress).toMatchObject({ action_id: action.id, seq: 1 });
  expect(progress["text"]).toContain("is said");
  expect(asking.frames.join()).not.toContain('hunter2-secret is said","seq');
  expect(String(progress["text"])).not.toContain("hunter2");
  server.quickTools.release();
  await server.waitForStatus(id, "finished");
  await other.until((frames) => frames.some(({ value }) => value === "finished"));
  expect(other.events.filter(({ kind }) => kind === "ToolProgress")).toEqual([]);
  expect((await server.eventTexts(id)).join()).not.toContain("ToolProgress");
});

test("P36, P44: queued messages are reported to clients that request them, also when the model begins to read", async () => {
  const { wrapModel, release } = holdAnswers();
  await using server = await startTestServer({ script: { turns, loop: true }, wrapModel });
  const { id } = await server.createConversation();
  let view: ConversationView = emptyView;
  const stop = new AbortController();
  const following = (async () => {
    const options = { afterEventId: null, standing: true, signal: stop.signal };
    for await (const item of server.client.follow(id, options)) view = foldItem(view, item);
  })();
  const first = await server.client.sendMessage(id, { ...text("first"), run: true });
  // Nothing is stored when a request begins; the message leaves the queue all the same.
  await until(() => view.status === "running" && view.queued.length === 0);
  const second = await server.client.sendMessage(id, text("second"));
  await until(() => view.queued.length === 1);
  expect(view.queued).toEqual([second]);
  expect(first).not.toBe(second);
  const { items } = (await server.client.call("GET /api/conversations/{conversation_id}/queue", {
    params: { conversation_id: id },
  })) as { items: { event_id: string }[] };
  expect(items.map((item) => item.event_id)).toEqual(view.queued);
  release();
  await server.waitForStatus(id, "finished");
  await until(() => view.status === "finished");
  expect(view.queued.length).toBe(
    (
      await server.client.call("GET /api/conversations/{conversation_id}/queue", {
        params: { conversation_id: id },
      })
    ).items.length,
  );
  stop.abort();
  await following;
});
