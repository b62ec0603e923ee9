import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer, type Socket } from "node:net";

import {
  ApiError,
  ConvokeClient,
  type ConnectionChange,
  type FollowItem,
  type FollowOptions,
} from "@convoke/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
});
afterAll(() => server[Symbol.asyncDispose]());

const backOffMs = { first: 1, max: 5 };
const missingId = "00000000-0000-4000-8000-000000000000";
const text = (content: string) => ({ content: [{ type: "text" as const, text: content }] });

/** The stored events of a stream, until `isLast`. */
async function collect(
  client: ConvokeClient,
  id: string,
  options: FollowOptions,
  isLast: (count: number) => boolean | Promise<boolean>,
): Promise<string[]> {
  const seen: string[] = [];
  for await (const item of client.follow(id, { backOffMs, ...options })) {
    if (item.type === "event") seen.push(item.json);
    if (await isLast(seen.length)) break;
  }
  return seen;
}

/** A relay to the server whose connections can be cut or frozen. */
async function openRelay(target: TestServer) {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const relay = createTcpServer((inner) => {
    const outer = connect(Number(new URL(target.url).port), "127.0.0.1");
    for (const socket of [inner, outer]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    inner.on("data", (data) => isFrozen || outer.write(data));
    outer.on("data", (data) => isFrozen || inner.write(data));
    inner.on("close", () => outer.destroy());
    outer.on("close", () => inner.destroy());
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const { port } = relay.address() as { port: number };
  return {
    client: new ConvokeClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: target.key }),
    cut,
    freeze: (state: boolean) => void (isFrozen = state),
    [Symbol.asyncDispose]: async () => {
      cut();
      await new Promise((resolve) => relay.close(resolve));
    },
  };
}

describe("P1: follow", () => {
  test("from the beginning, from an event on, and from now on without a gap", async () => {
    const id = await server.runTo("finished", "one");
    const log = await server.eventTexts(id);
    expect(await collect(server.client, id, { afterEventId: null }, (count) => count === log.length)).toEqual(
      log,
    );
    const third = (JSON.parse(log[2]!) as { id: string }).id;
    const rest = await collect(
      server.client,
      id,
      { afterEventId: third },
      (count) => count === log.length - 3,
    );
    expect(rest).toEqual(log.slice(3));
    const live = collect(
      server.client,
      id,
      { onConnection: onConnected(() => send()) },
      (count) => count === 3,
    );
    const send = (): void => void server.client.sendMessage(id, text("two"));
    await live;
    expect(await live).toEqual((await server.eventTexts(id)).slice(log.length));
  });

  test("goes on over cut connections and a restart of the server: nothing missing, nothing twice", async () => {
    await using own = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
    await using relay = await openRelay(own);
    const { id } = await own.createConversation();
    const states: string[] = [];
    const done = own.client.sendMessage(id, text("first"));
    let steps = 0;
    const seen = await collect(
      relay.client,
      id,
      { afterEventId: null, onConnection: ({ state }) => states.push(state) },
      async (count) => {
        await done;
        if (steps < 12) {
          steps += 1;
          if (steps === 6) await own.restart();
          if (steps % 2 === 0) relay.cut();
          await own.client.sendMessage(id, text(`message ${steps}`));
        }
        return steps === 12 && count === (await own.client.countEvents(id));
      },
    );
    expect(seen).toEqual(await own.eventTexts(id));
    expect(states).toContain("lost");
    expect(states.filter((state) => state === "connected").length).toBeGreaterThan(1);
  });

  test("P45: a connection that went silent is noticed and replaced", async () => {
    await using own = await startTestServer({ times: { pingEveryMs: 20 } });
    await using relay = await openRelay(own);
    const { id } = await own.createConversation();
    await own.client.sendMessage(id, text("before"));
    const lost = Promise.withResolvers<void>();
    const seen: FollowItem[] = [];
    const following = (async () => {
      const onConnection = ({ state }: ConnectionChange): void => {
        if (state !== "lost") return;
        relay.freeze(false);
        lost.resolve();
      };
      for await (const item of relay.client.follow(id, {
        afterEventId: null,
        deadAfterMs: 300,
        backOffMs,
        onConnection,
      })) {
        if (item.type === "event") seen.push(item);
        if (JSON.stringify(item).includes('"before"')) relay.freeze(true);
        if (JSON.stringify(item).includes('"after"')) break;
      }
    })();
    await lost.promise;
    await own.client.sendMessage(id, text("after"));
    await following;
    expect(new Set(seen.map((item) => item.type === "event" && item.json)).size).toBe(seen.length);
  });

  test("heartbeats keep a quiet stream open and are not shown", async () => {
    await using own = await startTestServer({ times: { pingEveryMs: 20 } });
    const { id } = await own.createConversation();
    const states: string[] = [];
    const stop = new AbortController();
    const items: FollowItem[] = [];
    const options = {
      signal: stop.signal,
      // More than a stall of this machine, which the client cannot tell from silence.
      deadAfterMs: 4_000,
      onConnection: ({ state }: ConnectionChange) => states.push(state),
    };
    for await (const item of own.client.follow(id, options)) {
      items.push(item);
      setTimeout(() => stop.abort(), 4_800);
    }
    expect(states.filter((state) => state === "lost")).toEqual([]);
    expect(items.map(({ type }) => type)).toEqual(["signal"]);
  });

  test("ends when the signal aborts, at once and before the first connection", async () => {
    const { id } = await server.createConversation();
    const stop = new AbortController();
    for await (const item of server.client.follow(id, { signal: stop.signal })) {
      expect(item.type).toBe("signal");
      stop.abort();
    }
    for await (const _ of server.client.follow(id, { signal: AbortSignal.abort() })) expect.unreachable();
  });

  test.each([
    ["an unknown conversation", missingId, {}, 404],
    ["an unknown conversation, with a cursor", missingId, { afterEventId: null }, 404],
    ["an id that is none", "nonsense", { afterEventId: null }, 422],
  ] as const)("rejects for %s", async (_what, id, options, status) => {
    const error = await collect(server.client, id, options, () => false).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status });
  });

  test("rejects for a wrong key and for a cursor of nowhere", async () => {
    const { id } = await server.createConversation();
    const stranger = new ConvokeClient({ baseUrl: server.url, apiKey: "wrong" });
    for (const options of [{}, { afterEventId: null }]) {
      await expect(collect(stranger, id, options, () => false)).rejects.toMatchObject({ status: 401 });
    }
    const lost = collect(server.client, id, { afterEventId: missingId }, () => false);
    await expect(lost).rejects.toMatchObject({ status: 422 });
  });
});

describe("errors", () => {
  test("an ApiError carries status, code, sentence and fields", async () => {
    await expect(server.client.getConversation(missingId)).rejects.toMatchObject({
      name: "ApiError",
      status: 404,
      code: "conversation_not_found",
      message: `Conversation not found: ${missingId}`,
      fields: [],
    });
    await expect(server.client.searchConversations({ limit: 0 })).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(/^query\.limit: \S.*\.$/),
      fields: [{ loc: ["query", "limit"] }],
    });
  });

  test("another body than ours gives a plain sentence", async () => {
    await using proxy = await openProxyPage();
    const client = new ConvokeClient({ baseUrl: proxy.url });
    await expect(client.serverInfo()).rejects.toMatchObject({
      status: 502,
      message: "The server answered with status 502.",
    });
  });

  test("no answer is a ConnectionError that names the server and the reason", async () => {
    const gone = await openProxyPage();
    await gone[Symbol.asyncDispose]();
    await expect(new ConvokeClient({ baseUrl: gone.url }).serverInfo()).rejects.toMatchObject({
      name: "ConnectionError",
      message: `The server at ${gone.url} gave no answer (ECONNREFUSED).`,
    });
  });
});

test("every method reaches its route", async () => {
  const { client } = server;
  const id = await server.runTo("finished", "hi");
  const other = `${server.url}/`;
  expect(await new ConvokeClient({ baseUrl: other, apiKey: server.key }).listTools()).toContain("terminal");
  expect((await client.serverInfo()).title).toMatch(/Convoke/);
  expect((await client.getConversations([id, missingId])).map((info) => info?.id ?? null)).toEqual([
    id,
    null,
  ]);
  expect((await client.searchConversations({ status: "finished" })).items.map((info) => info.id)).toContain(
    id,
  );
  expect(await client.countConversations("finished")).toBeGreaterThan(0);
  const events = await Array.fromAsync(client.events(id, { limit: 2 }));
  expect(events).toHaveLength(await client.countEvents(id));
  expect(await client.getEvent(id, events[0]!.id!)).toEqual(events[0]);
  expect(await client.getEvents(id, [events[1]!.id!, missingId])).toEqual([events[1], null]);
  const middle = await client.around(id, events[2]!.id!, { before: 1, after: 1 });
  expect(middle.events).toEqual(events.slice(1, 4));
  expect(middle).toMatchObject({
    olderPageId: events[0]!.id,
    newerPageId: events[4]!.id,
    lastEventId: events[3]!.id,
  });
  expect(await client.tail(id, { limit: 100 })).toEqual({
    events,
    trimmed: new Map(),
    olderPageId: null,
    newerPageId: null,
    lastEventId: events.at(-1)!.id,
  });
  expect(await client.call("GET /api/spend", { query: { days: 1 } })).toHaveProperty("today");
  const queue = await client.call("GET /api/conversations/{conversation_id}/queue", {
    params: { conversation_id: id },
  });
  expect(queue).toEqual({ items: [] });
  const path = `${server.workspaceDir}/a b.txt`;
  await writeFile(path, "bytes");
  // The slashes of a rest parameter go out escaped.
  const file = await client.open("GET /api/file/download/{path}", { params: { path } });
  expect(await file.text()).toBe("bytes");
  await client.run(id);
  await client.pause(id);
  await client.interrupt(id);
  expect((await client.stop(id)).conversation_status).toBe("STOPPED");
});

test("a server that takes a request and never answers is given up, and named", async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = silent.address() as { port: number };
    const client = new ConvokeClient({ baseUrl: `http://127.0.0.1:${port}`, timeoutMs: 50 });
    await expect(client.serverInfo()).rejects.toThrow(/gave no answer .*timeout/);
  } finally {
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  }
});

function onConnected(act: () => void): (change: ConnectionChange) => void {
  return ({ state }) => {
    if (state === "connected") act();
  };
}

async function openProxyPage() {
  const page = createServer((_request, response) => response.writeHead(502).end("<h1>Bad gateway</h1>"));
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  const { port } = page.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      page.closeAllConnections();
      await new Promise((resolve) => page.close(resolve));
    },
  };
}
