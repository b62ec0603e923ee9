import { expect, test } from "vitest";
import { startTestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";
import { until } from "../../../testing/until.ts";
import { socketTimes } from "./socket-times.ts";

test("P45: the documented times: a ping at least every 10 s, a dead peer noticed within 25 s, 10 s to authenticate", () => {
  expect(socketTimes.pingEveryMs).toBeLessThanOrEqual(10_000);
  expect(socketTimes.deadAfterMs).toBeLessThanOrEqual(25_000);
  expect(socketTimes.authDeadlineMs).toBe(10_000);
});

test("a client that never authenticates is closed with 4001 at the deadline", async () => {
  await using server = await startTestServer({ times: { authDeadlineMs: 40 } });
  using socket = new TestSocket(`${server.url}/sockets/events/00000000-0000-4000-8000-000000000000`);
  const startedMs = performance.now();
  expect(await socket.closed).toEqual({ code: 4001, reason: "Authentication failed" });
  expect(performance.now() - startedMs).toBeGreaterThan(35);
});

test("P45: living peers are pinged and kept, dead ones are cut off", async () => {
  await using server = await startTestServer({ times: { pingEveryMs: 30, deadAfterMs: 150 } });
  const { id } = await server.createConversation();
  const options = { headers: { "x-session-api-key": server.key } };
  const url = `${server.url}/sockets/events/${id}`;
  using living = new TestSocket(url, options);
  using dead = new TestSocket(url, { ...options, autoPong: false });
  let pings = 0;
  living.socket.on("ping", () => pings++);
  expect(await dead.closed).toMatchObject({ code: 1006 });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "still there?" }] });
  await living.until((events) => events.some(({ kind }) => kind === "MessageEvent"));
  await until(() => pings >= 3);
});

test("P10: a client that reads nothing is closed; other clients and the run do not wait for it", async () => {
  // However long the checks below take, the close frame is still there to be read.
  await using server = await startTestServer({ times: { stallMs: 100, closingMs: 120_000 } });
  const { id } = await server.createConversation();
  const options = { headers: { "x-session-api-key": server.key } };
  const url = `${server.url}/sockets/events/${id}`;
  using wedged = new TestSocket(url, options);
  await wedged.untilCount(1);
  wedged.socket.pause();
  using reader = new TestSocket(url, options);
  const text = "x".repeat(1_000_000);
  for (let n = 0; n < 12; n++) await server.client.sendMessage(id, { content: [{ type: "text", text }] });
  await reader.until((events) => events.filter(({ kind }) => kind === "MessageEvent").length === 12);
  // The server looks every 10 ms too, in the same process: however slow that is, it has looked often enough by then.
  for (let checks = 0; checks < 50; checks += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  wedged.socket.resume();
  expect(await wedged.closed).toMatchObject({ code: 4008 });
});

test("P10: a client that does not read the close frame either is cut off, and nothing is buffered for it", async () => {
  await using server = await startTestServer({ times: { stallMs: 100, closingMs: 100 } });
  const { id } = await server.createConversation();
  const options = { headers: { "x-session-api-key": server.key } };
  using wedged = new TestSocket(`${server.url}/sockets/events/${id}`, options);
  await wedged.untilCount(1);
  wedged.socket.pause();
  const text = "x".repeat(1_000_000);
  for (let n = 0; n < 16; n++) await server.client.sendMessage(id, { content: [{ type: "text", text }] });
  for (let checks = 0; checks < 60; checks += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  wedged.socket.resume();
  // What it had not taken is gone, and with it the code.
  expect(await wedged.closed).toMatchObject({ code: 1006 });
  expect(wedged.frames.length).toBeLessThan(16);
});

test("a client that does not answer the closing does not hold the server up", async () => {
  const server = await startTestServer();
  try {
    const { id } = await server.createConversation();
    using wedged = new TestSocket(`${server.url}/sockets/events/${id}`, {
      headers: { "x-session-api-key": server.key },
    });
    await wedged.untilCount(1);
    wedged.socket.pause();
    const startedMs = performance.now();
    await server.close();
    expect(performance.now() - startedMs).toBeLessThan(60_000);
  } finally {
    await server[Symbol.asyncDispose]();
  }
});
