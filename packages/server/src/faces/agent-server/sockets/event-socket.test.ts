import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClientOptions } from "ws";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

let server: TestServer;
let id = "";
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  id = await server.runTo("finished", "hi");
  // A second after a quick run its end is told once more; nothing of this conversation comes by itself from here on.
  await server.restart();
});
afterAll(() => server[Symbol.asyncDispose]());

const missingId = "00000000-0000-4000-8000-000000000000";

function open(query = "", options: ClientOptions = withKey(), conversation = id): TestSocket {
  return new TestSocket(`${server.url}/sockets/events/${conversation}${query}`, options);
}

const withKey = (): ClientOptions => ({ headers: { "x-session-api-key": server.key } });
const stored = async (conversation = id): Promise<string[]> => await server.eventTexts(conversation);
const isFullState = (frame: Record<string, unknown>): boolean => frame["key"] === "full_state";

describe("authentication", () => {
  test.each([
    ["header", () => open()],
    ["bearer", () => open("", { headers: { authorization: `Bearer ${server.key}` } })],
    ["query", () => open(`?session_api_key=${server.key}`, {})],
  ])("by %s", async (_way, connect) => {
    using socket = connect();
    expect(await socket.opened).toBe("open");
    await socket.untilCount(1);
    expect(socket.events[0]).toMatchObject({ key: "full_state" });
  });

  test("by the first frame, without an answer of its own; a message right behind it is not lost", async () => {
    const { id: fresh } = await server.createConversation();
    using socket = open("", {}, fresh);
    await socket.opened;
    socket.send({ type: "auth", session_api_key: server.key });
    socket.send({ role: "user", content: "early" });
    await socket.until((events) => events.some(({ value }) => value === "finished"));
    expect(socket.events[0]).toMatchObject({ key: "full_state", value: { execution_status: "idle" } });
    expect(await stored(fresh)).toEqual(socket.frames.filter((frame) => !frame.includes('"full_state"')));
  });

  test.each([
    ["wrong header", () => open("", { headers: { "x-session-api-key": "wrong" } })],
    ["wrong bearer", () => open("", { headers: { authorization: "Bearer wrong" } })],
    ["wrong query", () => open("?session_api_key=wrong", {})],
    ["wrong query with a good header", () => open("?session_api_key=wrong")],
    ["bad conversation id", () => open("", withKey(), "nonsense")],
    ["bad mode", () => open("?resend_mode=some")],
    ["bad timestamp", () => open("?resend_mode=since&after_timestamp=yesterday")],
    [
      "foreign origin",
      () => open("", { headers: { "x-session-api-key": server.key, origin: "https://evil.example" } }),
    ],
    ["foreign host", () => open("", { headers: { "x-session-api-key": server.key, host: "evil.example" } })],
  ])("P3: %s is a 403 and never upgraded", async (_what, connect) => {
    using socket = connect();
    expect(await socket.opened).toBe(403);
  });

  test.each([
    ["a wrong key", { type: "auth", session_api_key: "wrong" }],
    ["an empty key", { type: "auth", session_api_key: "" }],
    ["no key", { type: "auth" }],
    ["a key of another type", { type: "auth", session_api_key: ["x"] }],
    ["another type", { type: "hello", session_api_key: "test-session-key" }],
    ["a message", { role: "user", content: "let me in" }],
    ["no JSON", "hello"],
    ["a list", "[]"],
    ["binary", Buffer.from("{}")],
  ])("a first frame with %s closes with 4001 and shows nothing", async (_what, frame) => {
    using socket = open("", {});
    await socket.opened;
    socket.send(frame);
    expect(await socket.closed).toEqual({ code: 4001, reason: "Authentication failed" });
    expect(socket.frames).toEqual([]);
  });

  test("an unknown conversation closes with 4004, for those with a key only", async () => {
    using known = open("", withKey(), missingId);
    expect(await known.closed).toMatchObject({ code: 4004 });
    using stranger = open("", {}, missingId);
    await stranger.opened;
    stranger.send({ type: "auth", session_api_key: "wrong" });
    expect(await stranger.closed).toMatchObject({ code: 4001 });
  });

  test("P32: a key in the address is in no log line", async () => {
    using good = open(`?session_api_key=${server.key}`, {});
    await good.opened;
    using bad = open("?session_api_key=secret-but-wrong", {});
    await bad.opened;
    const log = JSON.stringify(server.log);
    expect(log).not.toContain(server.key);
    expect(log).not.toContain("secret-but-wrong");
  });
});

describe("where the stream begins", () => {
  test.each([
    "?resend_mode=all",
    "?resend_all=true",
    "?resend_mode=since&after_timestamp=2020-01-01T00:00:00",
  ])("%s: full_state, then the log from its start, byte for byte", async (query) => {
    const log = await stored();
    using socket = open(query);
    await socket.untilCount(log.length + 1);
    expect(isFullState(socket.events[0]!)).toBe(true);
    expect(socket.frames.slice(1)).toEqual(log);
  });

  test("since is inclusive, after_event_id is exclusive", async () => {
    const log = await stored();
    const third = JSON.parse(log[2]!) as { id: string; timestamp: string };
    using since = open(`?resend_mode=since&after_timestamp=${third.timestamp}`);
    await since.untilCount(log.length - 2 + 1);
    expect(since.frames.slice(1)).toEqual(log.slice(2));
    using after = open(`?after_event_id=${third.id.toUpperCase()}`);
    await after.untilCount(log.length - 3 + 1);
    expect(after.frames.slice(1)).toEqual(log.slice(3));
  });

  test("without a mode, and with since but no timestamp, only new events are sent", async () => {
    const { id: busy } = await server.createConversation();
    await server.client.sendMessage(busy, { content: [{ type: "text", text: "one" }] });
    const before = await stored(busy);
    using plain = open("", withKey(), busy);
    using since = open("?resend_mode=since", withKey(), busy);
    await Promise.all([plain.untilCount(1), since.untilCount(1)]);
    await server.client.sendMessage(busy, { content: [{ type: "text", text: "two" }] });
    const news = (await stored(busy)).slice(before.length);
    await Promise.all([plain.untilCount(1 + news.length), since.untilCount(1 + news.length)]);
    expect(plain.frames.slice(1)).toEqual(news);
    expect(since.frames.slice(1)).toEqual(news);
  });

  test("an after_event_id of nowhere closes with 4022", async () => {
    for (const eventId of [missingId, "nonsense"]) {
      using socket = open(`?after_event_id=${eventId}`);
      expect(await socket.closed).toMatchObject({ code: 4022 });
    }
  });

  test("W21: replay while events are appended has no duplicate, no gap, no inversion, for both subscribers", async () => {
    const { id: busy } = await server.createConversation();
    const send = (n: number) =>
      server.client.sendMessage(busy, { content: [{ type: "text", text: `m${n}` }] });
    for (let n = 0; n < 60; n++) await send(n);
    const sockets: TestSocket[] = [];
    const appending = (async () => {
      for (let n = 60; n < 120; n++) await send(n);
    })();
    for (let n = 0; n < 4; n++) {
      const socket = open("?resend_mode=all", withKey(), busy);
      sockets.push(socket);
      await socket.untilCount(20);
    }
    await appending;
    const items = await Array.fromAsync(server.client.events(busy));
    for (const socket of sockets) {
      await socket.untilCount(items.length + 1);
      expect(socket.events.slice(1).map((event) => event["id"])).toEqual(items.map((event) => event.id));
      socket[Symbol.dispose]();
    }
  });
});

describe("input", () => {
  test("a message starts a run; the content may be text or parts", async () => {
    const { id: fresh } = await server.createConversation();
    using socket = open("", withKey(), fresh);
    await socket.untilCount(1);
    for (const content of ["plain", [{ type: "text", text: "parts" }]]) {
      const before = socket.frames.length;
      socket.send({ role: "user", content });
      await socket.until((events) => events.slice(before).some(({ value }) => value === "finished"));
    }
    const messages = (await server.client.searchEvents(fresh, { source: "user", kind: "MessageEvent" }))
      .items;
    expect(messages.map((event) => event.kind === "MessageEvent" && event.llm_message.content)).toEqual([
      [{ type: "text", text: "plain", cache_prompt: false }],
      [{ type: "text", text: "parts", cache_prompt: false }],
    ]);
  });

  test.each([
    ["no JSON", "{", "invalid_json"],
    ["a list", "[]", "invalid_json"],
    ["no message", { type: "ping" }, "invalid_message"],
    ["another role", { role: "assistant", content: "x" }, "invalid_message"],
    ["content of a wrong type", { role: "user", content: 5 }, "invalid_message"],
    ["binary", Buffer.from("x"), "binary_frame"],
  ])("%s: an error to this socket alone, which stays open", async (_what, frame, code) => {
    using socket = open();
    using other = open();
    await Promise.all([socket.untilCount(1), other.untilCount(1)]);
    const count = await server.client.countEvents(id);
    socket.send(frame);
    await socket.untilCount(2);
    expect(socket.events[1]).toMatchObject({ kind: "ServerErrorEvent", source: "environment", code });
    expect(socket.events[1]!["detail"]).toMatch(/\S \S/);
    expect(other.frames).toHaveLength(1);
    expect(await server.client.countEvents(id)).toBe(count);
    expect(socket.socket.readyState).toBe(socket.socket.OPEN);
  });

  test("an auth frame is ignored where none is needed", async () => {
    using socket = open();
    await socket.untilCount(1);
    socket.send({ type: "auth", session_api_key: "whatever" });
    socket.send("{");
    await socket.untilCount(2);
    expect(socket.events[1]).toMatchObject({ code: "invalid_json" });
  });

  test("P18: a client message id makes sending again harmless", async () => {
    const { id: fresh } = await server.createConversation();
    using socket = open("", withKey(), fresh);
    await socket.untilCount(1);
    for (let n = 0; n < 3; n++) socket.send({ role: "user", content: "once", client_message_id: "m-1" });
    socket.send({ role: "user", content: "other", client_message_id: "m-1" });
    await socket.until((events) => events.some(({ code }) => code === "client_message_id_reused"));
    expect(await server.client.countEvents(fresh, { kind: "MessageEvent", source: "user" })).toBe(1);
  });

  test("P29, security 25: a client that continues to send after too large a message gets the limit every time", async () => {
    const large = Buffer.alloc(16 * 1024 * 1024 + 1);
    for (let tries = 0; tries < 8; tries++) {
      using socket = open();
      await socket.untilCount(1);
      for (let more = 0; more < 3; more++) socket.send(large);
      expect(await socket.closed).toEqual({ code: 1009, reason: "Send at most 16777216 bytes" });
    }
  });

  test("security 35: text that is no UTF-8 closes with 1007", async () => {
    using socket = open();
    await socket.untilCount(1);
    socket.socket.send(Buffer.from('{"content":"caf\xe9"}', "latin1"), { binary: false });
    expect(await socket.closed).toEqual({ code: 1007, reason: "Send text that is encoded in UTF-8" });
  });

  test("P29: a message larger than the limit closes with 1009, once, and says what the limit is", async () => {
    using socket = open();
    await socket.untilCount(1);
    socket.send("x".repeat(16 * 1024 * 1024 + 1));
    expect(await socket.closed).toEqual({ code: 1009, reason: "Send at most 16777216 bytes" });
  });
});

test("deleting a conversation closes its sockets with 4004", async () => {
  const { id: deleted } = await server.createConversation();
  using socket = open("", withKey(), deleted);
  await socket.untilCount(1);
  await server.client.deleteConversation(deleted);
  expect(await socket.closed).toMatchObject({ code: 4004 });
});

test("an upgrade of another route is not a socket, and needs the key too", async () => {
  using stranger = new TestSocket(`${server.url}/api/conversations/search`);
  expect(await stranger.opened).toBe(401);
  using garbled = new TestSocket(`${server.url}/sockets/events/%ZZ`);
  expect(await garbled.opened).toBe(400);
  using lost = new TestSocket(`${server.url}/sockets/nothing`);
  expect(await lost.opened).toBe(404);
});
