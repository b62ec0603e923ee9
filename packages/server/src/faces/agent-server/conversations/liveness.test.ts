import { describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

/** The promise is 50 ms; a machine that stalls gets a wider limit, as a blocked call would take for ever. */
const maxMs = 30_000;
/** What a stall, which meets a few of the calls, cannot reach. */
const maxMedianMs = 5_000;

/** Milliseconds of each of `count` calls, sorted. */
async function measure(count: number, call: (n: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const startedMs = performance.now();
    await call(n);
    times.push(performance.now() - startedMs);
  }
  return times.toSorted((a, b) => a - b);
}

const p99 = (times: readonly number[]): number => times[Math.floor(times.length * 0.99)]!;
const median = (times: readonly number[]): number => times[Math.floor(times.length / 2)]!;

describe.each([
  [
    "a tool sleeps",
    200,
    { turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "stubborn sleep" } }] }] },
  ],
  ["the model hangs", 60, { turns: [{ hang: true }] }],
  ["the model stops in the middle of an answer", 60, { turns: [{ text: "x".repeat(500), hang: "body" }] }],
] as const)("P9, W11: while %s", (_what, count, script) => {
  test("search, list, send and policy answer at once, and so does stop", async () => {
    await using server = await startTestServer({ script });
    const { id } = await server.createConversation({ text: "go" });
    await until(() => server.model.requests.length > 0);
    if (JSON.stringify(script).includes("stubborn")) await until(() => server.quickTools.started.length > 0);
    const { client } = server;
    await client.searchEvents(id);
    const times = await measure(count, async (n) => {
      switch (n % 5) {
        case 0:
          return await client.searchEvents(id, { limit: 20, sort_order: "TIMESTAMP_DESC" });
        case 1:
          return await client.sendMessage(id, { content: [{ type: "text", text: `m${n}` }], run: true });
        case 2:
          return await client.searchConversations();
        case 3:
          return await client.getConversation(id);
        default:
          return await client.setConfirmationPolicy(id, {
            kind: n % 2 === 0 ? "AlwaysConfirm" : "NeverConfirm",
          });
      }
    });
    expect(p99(times)).toBeLessThan(maxMs);
    expect(median(times)).toBeLessThan(maxMedianMs);
    const [stop] = await measure(1, () => client.stop(id));
    expect(stop).toBeLessThan(maxMs);
    server.quickTools.release();
  });
});

test("W10: sockets that read nothing hold up neither the run nor its end nor commands", async () => {
  const text = "y".repeat(400_000);
  const turns = [
    ...Array.from({ length: 6 }, (_, n) => ({
      text,
      tool_calls: [{ name: "terminal", arguments: { command: `s${n}` } }],
    })),
    { text: "Done." },
  ];
  await using server = await startTestServer({ script: { turns } });
  const { agent } = server.startRequest();
  // The script is longer than any window; here it is to be read whole.
  const { id } = await server.createConversation({
    agent: { ...agent, condenser: { kind: "NoOpCondenser" } },
  });
  const sockets = await Promise.all(Array.from({ length: 5 }, () => wedge(server, id)));
  await server.client.sendMessage(id, { content: [{ type: "text", text: "go" }], run: true });
  await server.waitForStatus(id, "finished");
  const [again] = await measure(1, () => server.client.run(id));
  expect(again).toBeLessThan(maxMs);
  for (const socket of sockets) socket[Symbol.dispose]();
});

test("W12: callers of a busy conversation do not starve those of an idle one", async () => {
  await using server = await startTestServer({
    script: { turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "stubborn sleep" } }] }] },
  });
  const { id: busy } = await server.createConversation({ text: "go" });
  const { id: idle } = await server.createConversation();
  await until(() => server.quickTools.started.length > 0);
  const pauses = Promise.all(Array.from({ length: 30 }, () => server.client.pause(busy)));
  const times = await measure(20, () => server.client.searchEvents(idle));
  expect(times.at(-1)).toBeLessThan(maxMs);
  expect(median(times)).toBeLessThan(maxMedianMs);
  await pauses;
  server.quickTools.release();
});

async function wedge(server: TestServer, id: string): Promise<TestSocket> {
  const socket = new TestSocket(`${server.url}/sockets/events/${id}`, {
    headers: { "x-session-api-key": server.key },
  });
  await socket.untilCount(1);
  socket.socket.pause();
  return socket;
}
