import { monitorEventLoopDelay } from "node:perf_hooks";
import { ConvokeClient, type FollowItem } from "@convoke/client";
import { expect, test } from "vitest";
import { sampleEvent } from "../journal/sample-events.ts";
import type { NewEvent } from "../journal/journal.ts";
import { openLogServer, type LogServer } from "./open-log-server.ts";

/** Events of the long log; the promise is about 100,000 (`CONVOKE_ROWS=100000`). */
const many = Number(process.env["CONVOKE_ROWS"] ?? 3_000);
const eventBytes = 2_000;
const liveCount = 200;

test("P37: a client opens the end of a log, follows it and reads older events with the same work, however long it is", async () => {
  await using server = await openLogServer();
  await grow(server, 0, 300);
  const short = await openAndFollow(server, 300);
  await grow(server, 300 + liveCount, many);
  const long = await openAndFollow(server, many);
  expect(long.replyBytes).toEqual(short.replyBytes);
  if (many < 100_000) return;
  console.log(
    `opened in ${long.openMs.toFixed(0)} ms, memory ${(long.grownBytes / 1e6).toFixed(0)} MB, longest task ` +
      `${long.longestTaskMs.toFixed(0)} ms, ${long.perEventMs.toFixed(2)} ms for one more event ` +
      `(${short.perEventMs.toFixed(2)} ms in a short log)`,
  );
  expect(long.openMs).toBeLessThan(1_000);
  expect(long.grownBytes).toBeLessThan(150e6);
  expect(long.longestTaskMs).toBeLessThan(50);
  expect(long.perEventMs).toBeLessThan(3 * short.perEventMs + 1);
}, 600_000);

/** Server and client share one process here, so time, memory and tasks are those of both. */
async function openAndFollow(server: LogServer, count: number) {
  const { conversationId: id } = server;
  const replyBytes: number[] = [];
  const client = new ConvokeClient({
    baseUrl: server.url,
    apiKey: server.key,
    fetch: async (address, options) => {
      const reply = await fetch(address, options);
      replyBytes.push((await reply.clone().text()).length);
      return reply;
    },
  });
  const heapBefore = process.memoryUsage();
  using delays = disposable(monitorEventLoopDelay({ resolution: 5 }));
  delays.watch.enable();
  const startedMs = performance.now();
  const tail = await client.tail(id);
  const stop = new AbortController();
  const following = client.follow(id, { afterEventId: tail.lastEventId, signal: stop.signal });
  const items = following[Symbol.asyncIterator]();
  expect(await items.next()).toMatchObject({ value: { type: "signal" } });
  const openMs = performance.now() - startedMs;
  expect(tail.events.map((event) => event.id)).toEqual(
    Array.from({ length: 50 }, (_, index) => idOf(count - 49 + index)),
  );
  const older = await client.searchEvents(id, {
    page_id: tail.olderPageId!,
    limit: 100,
    sort_order: "TIMESTAMP_DESC",
  });
  expect(older.items.map((event) => event.id)).toEqual(
    Array.from({ length: 100 }, (_, index) => idOf(count - 50 - index)),
  );
  const longestTaskMs = delays.watch.max / 1e6;
  const grownBytes = process.memoryUsage().rss - heapBefore.rss;
  const liveMs = performance.now();
  for (let seq = count + 1; seq <= count + liveCount; seq += 1) {
    await server.append([eventAt(seq)]);
    const { value } = (await items.next()) as { value: FollowItem };
    expect(value.type === "event" ? value.event.id : null).toBe(idOf(seq));
  }
  const perEventMs = (performance.now() - liveMs) / liveCount;
  stop.abort();
  await items.return?.();
  return { replyBytes, openMs, grownBytes, longestTaskMs, perEventMs };
}

/** Events up to `count`, after those that the server wrote itself. */
async function grow(server: LogServer, from: number, count: number): Promise<void> {
  for (let seq = from; seq < count; seq += 500) {
    const here = Math.min(500, count - seq);
    await server.append(Array.from({ length: here }, (_, index) => eventAt(seq + index + 1)));
  }
}

function eventAt(seq: number): NewEvent {
  const event = sampleEvent(seq, { kind: "ObservationEvent", minLength: eventBytes });
  return {
    ...event,
    id: idOf(seq),
    timestampMicros: 4e15 + seq,
    json: event.json.replace(event.id, idOf(seq)),
  };
}

function idOf(seq: number): string {
  return `ffff0000-0000-7000-8000-${seq.toString(16).padStart(12, "0")}`;
}

function disposable<Watch extends { disable(): unknown }>(
  watch: Watch,
): Disposable & { readonly watch: Watch } {
  return { watch, [Symbol.dispose]: () => void watch.disable() };
}
