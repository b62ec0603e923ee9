import { ConvokeClient, type FollowItem } from "@convoke/client";
import { expect, test } from "vitest";
import { sampleEvent } from "../journal/sample-events.ts";
import type { NewEvent } from "../journal/journal.ts";
import { checkLeaksAfterEach } from "./check-leaks.ts";
import { openLogServer, type LogServer } from "./open-log-server.ts";
import { openSlowRelay } from "./slow-relay.ts";
import { TestSocket } from "./test-socket.ts";

checkLeaksAfterEach();

const largeLength = 50_000_000;

test("P29: an observation of 50 MB is stored, found, and delivered live and to those who come back, over one socket each", async () => {
  await using server = await openLogServer();
  const before = observation(1_000, 0);
  const large = observation(1_001, largeLength);
  const after = observation(1_002, 0);
  await server.append([before]);
  using live = openSocket(server, `after_event_id=${before.id}`);
  await live.untilCount(1);

  await server.append([large]);
  await server.append([after]);
  await live.untilCount(3, 180_000);
  expect(live.frames[1] === large.json && live.frames[2] === after.json).toBe(true);

  using resumed = openSocket(server, `after_event_id=${before.id}`);
  await resumed.untilCount(3, 180_000);
  expect(resumed.frames[1] === large.json && resumed.frames[2] === after.json).toBe(true);
  for (const { socket } of [live, resumed]) expect(socket.readyState).toBe(socket.OPEN);

  const { client, conversationId } = server;
  const query = { kind: "ObservationEvent", sort_order: "TIMESTAMP_DESC" } as const;
  const found = await Array.fromAsync(client.events(conversationId, query));
  expect(found.map(({ id }) => id)).toEqual([after.id, large.id, before.id]);
  expect(await client.countEvents(conversationId, { kind: "ObservationEvent" })).toBe(3);
  expect(JSON.stringify(await client.getEvent(conversationId, large.id)) === large.json).toBe(true);
  // The socket works as before.
  live.send({ role: "assistant", content: "no" });
  await live.untilCount(4);
  expect(JSON.parse(live.frames[3]!)).toMatchObject({ code: "invalid_message" });
}, 600_000);

test("P29 P45: server and client give a slow line the time that a large event needs", async () => {
  // The large event takes four seconds; other short stalls of this process must not look like one.
  await using server = await openLogServer({ stallMs: 2_000, deadAfterMs: 3_000, pingEveryMs: 200 });
  await using relay = await openSlowRelay({ port: server.port, bytesPerSecond: 6_000_000 });
  const first = observation(1_000, 0);
  const large = observation(1_001, 24_000_000);
  const last = observation(1_002, 0);
  await server.append([first, large, last]);
  using socket = openSocket({ ...server, url: relay.url }, `after_event_id=${first.id}`);
  await socket.untilCount(3, 180_000);
  expect(socket.frames[1] === large.json && socket.frames[2] === last.json).toBe(true);
  expect(socket.socket.readyState).toBe(socket.socket.OPEN);

  const slow = new ConvokeClient({ baseUrl: relay.url, apiKey: server.key });
  const seen: FollowItem[] = [];
  const options = { afterEventId: first.id, deadAfterMs: 3_000, backOffMs: { first: 1, max: 5 } };
  for await (const item of slow.follow(server.conversationId, options)) {
    if (item.type === "event") seen.push(item);
    if (seen.length === 2) break;
  }
  expect(seen.map((item) => (item.type === "event" ? item.event.id : ""))).toEqual([large.id, last.id]);
}, 600_000);

function openSocket({ url, key, conversationId }: LogServer, query: string): TestSocket {
  const options = { headers: { "x-session-api-key": key }, maxPayload: 2 * largeLength };
  return new TestSocket(`${url}/sockets/events/${conversationId}?${query}`, options);
}

/** After the events that the server wrote itself. */
function observation(seq: number, minLength: number): NewEvent {
  const event = sampleEvent(seq, { kind: "ObservationEvent", source: "environment", minLength });
  const id = `ffff${event.id.slice(4)}`;
  return { ...event, id, timestampMicros: 4e15 + seq, json: event.json.replace(event.id, id) };
}
