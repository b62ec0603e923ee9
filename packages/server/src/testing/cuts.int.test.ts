import { setTimeout as sleep } from "node:timers/promises";
import { ConvokeClient } from "@convoke/client";
import { expect, test } from "vitest";
import { sampleEvent } from "../journal/sample-events.ts";
import { checkLeaksAfterEach } from "./check-leaks.ts";
import { openCutProxy, type CutProxy } from "./cut-proxy.ts";
import { openLogServer, type LogServer } from "./open-log-server.ts";
import { createRandom, type Random } from "./random.ts";

checkLeaksAfterEach();

/** `CONVOKE_EVERY_CASE=1` runs the number of the promise, `CONVOKE_CUTS` any other; `CONVOKE_SEED` changes the cuts. */
const cuts = Number(
  process.env["CONVOKE_CUTS"] ?? (process.env["CONVOKE_EVERY_CASE"] === "1" ? 10_000 : 500),
);
const seed = Number(process.env["CONVOKE_SEED"] ?? 2026);
const followerCount = 4;

test(
  `P1: ${cuts} cuts at any byte and moment, handshake included: what followers get is the stored log, byte for byte (seed ${seed})`,
  async () => {
    const random = createRandom(seed);
    await using server = await openLogServer();
    await using proxy = await openCutProxy({
      targetPort: server.port,
      random,
      longestBytesPower: 19,
      longestMs: 40,
    });
    const stopping = new AbortController();
    const followers = Array.from({ length: followerCount }, () =>
      startFollower(proxy, server, stopping.signal),
    );
    const lastSeq = await writeUntil(() => proxy.cutCount >= cuts, server, random);
    proxy.heal();
    for (const follower of followers) await follower.until(lastSeq);
    stopping.abort();
    await Promise.all(followers.map(({ reading }) => reading));

    const stored = await server.journal.read(server.conversationId, 0, lastSeq + 1);
    expect(stored.length).toBe(lastSeq);
    for (const { items } of followers) {
      expect(items.length).toBe(lastSeq);
      expect(items.findIndex((json, index) => json !== stored[index]!.json)).toBe(-1);
    }
    await expectPages(server, followers[0]!.items);
  },
  300_000 + cuts * 200,
);

type Follower = {
  readonly items: string[];
  readonly reading: Promise<void>;
  until(count: number): Promise<void>;
};

function startFollower(proxy: CutProxy, server: LogServer, signal: AbortSignal): Follower {
  const client = new ConvokeClient({ baseUrl: `http://127.0.0.1:${proxy.port}`, apiKey: server.key });
  const items: string[] = [];
  const reading = (async () => {
    const options = { afterEventId: null, signal, backOffMs: { first: 1, max: 4 } };
    for await (const item of client.follow(server.conversationId, options)) {
      if (item.type === "event") items.push(item.json);
    }
  })();
  return {
    items,
    reading,
    until: async (count) => {
      const deadlineMs = performance.now() + 120_000;
      while (items.length < count && performance.now() < deadlineMs) await sleep(10);
    },
  };
}

/** Writes small, medium and large events, some with multi-byte characters, in batches; returns the last `seq`. */
async function writeUntil(isEnough: () => boolean, server: LogServer, random: Random): Promise<number> {
  let seq = await server.journal.lastSeq(server.conversationId);
  while (!isEnough()) {
    const batch = Array.from({ length: 1 + random.whole(12) }, () => {
      seq += 1;
      const isLarge = random.next() < 0.004;
      const minLength = isLarge ? 150_000 : Math.ceil(2 ** (random.next() * 11));
      return sampleEvent(seq, {
        kind: "MessageEvent",
        text: "größer 日本 ".repeat(random.whole(4)),
        minLength,
      });
    });
    await server.append(batch);
    await sleep(random.whole(40));
  }
  return seq;
}

/** The search pages are the same texts, joined. */
async function expectPages(server: LogServer, items: readonly string[]): Promise<void> {
  let pageId = "";
  for (let from = 0; from < items.length; from += 100) {
    const query = pageId === "" ? "" : `&page_id=${pageId}`;
    const reply = await fetch(
      `${server.url}/api/conversations/${server.conversationId}/events/search?limit=100${query}`,
      { headers: { "X-Session-API-Key": server.key } },
    );
    const text = await reply.text();
    expect(text.startsWith(`{"items":[${items.slice(from, from + 100).join(",")}],`)).toBe(true);
    pageId = (JSON.parse(text) as { next_page_id: string | null }).next_page_id ?? "";
  }
  expect(pageId).toBe("");
}
