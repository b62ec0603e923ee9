import fc from "fast-check";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, request } from "node:http";
import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { readText } from "./testing/echo-server.ts";
import { type EgressWorld, openEgressWorld } from "./testing/egress-world.ts";

const bigBytes = 50 * 1024 * 1024;
const chunk = Buffer.alloc(64 * 1024, "convoke ");

test("a tunnel carries 50 MiB each way to a slow reader, and holds a bounded part of it", async () => {
  await using world = await openEgressWorld();
  let received = 0;
  let highest = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    // Reads a bit in each turn, so that the sender has to wait.
    const readSome = (): void => {
      const bytes = socket.read() as Buffer | null;
      received += bytes?.length ?? 0;
      if (!socket.readableEnded) setImmediate(readSome);
    };
    readSome();
    socket.once("end", () => socket.end(String(received)));
  });
  await world.place("a.example.com", 22, server);
  const { socket } = await world.connect("a.example.com:22");
  for (let sent = 0; sent < bigBytes; sent += chunk.length) {
    if (!socket.write(chunk)) await once(socket, "drain");
    highest = Math.max(highest, sent - received);
  }
  socket.end();
  expect(Buffer.concat(await socket.toArray()).toString()).toBe(String(bigBytes));
  expect(highest).toBeLessThan(16 * 1024 * 1024);
});

test("a request and an answer of 50 MiB pass", async () => {
  await using world = await openEgressWorld();
  const server = createHttpServer((incoming, response) => {
    response.setHeader("Content-Length", bigBytes);
    incoming.pipe(response);
  });
  await world.place("a.example.com", 80, server);
  const outgoing = request({
    socketPath: world.socketPath,
    method: "POST",
    path: "http://a.example.com/",
    headers: { host: "a.example.com", "Content-Length": bigBytes },
  });
  const answered = once(outgoing, "response");
  const sending = (async () => {
    for (let sent = 0; sent < bigBytes; sent += chunk.length) {
      if (!outgoing.write(chunk)) await once(outgoing, "drain");
    }
    outgoing.end();
  })();
  const [answer] = (await answered) as [IncomingMessage];
  let received = 0;
  for await (const bytes of answer as AsyncIterable<Buffer>) received += bytes.length;
  await sending;
  expect(received).toBe(bigBytes);
  await expect.poll(() => world.records).toMatchObject([{ sentBytes: bigBytes, receivedBytes: bigBytes }]);
});

test("a client that is gone takes its tunnel, its request and its dial with it", async () => {
  await using world = await openEgressWorld();
  const opened: Socket[] = [];
  await world.place(
    "a.example.com",
    22,
    createServer((socket) => void opened.push(socket)),
  );
  await world.place(
    "a.example.com",
    80,
    createHttpServer(() => {}),
  );
  const { socket } = await world.connect("a.example.com:22");
  const outgoing = request({ socketPath: world.socketPath, path: "http://a.example.com/" }).end();
  outgoing.on("error", () => {});
  await expect.poll(() => world.openUpstreams()).toBe(2);
  socket.destroy();
  outgoing.destroy();
  await expect.poll(() => world.openUpstreams()).toBe(0);
  await expect.poll(() => world.records.map(({ kind }) => kind).toSorted()).toEqual(["request", "tunnel"]);
});

test("a host that is gone in the middle of an answer cuts the client off", async () => {
  await using world = await openEgressWorld();
  const server = createHttpServer((_, response) => {
    response.writeHead(200, { "Content-Length": 100 });
    response.write("half", () => response.destroy());
  });
  await world.place("a.example.com", 80, server);
  await expect(world.send("http://a.example.com/")).rejects.toThrow("aborted");
  await expect.poll(() => world.records).toMatchObject([{ status: 200, receivedBytes: 4 }]);
});

test("a connection that was closed while it was idle is not the end of the next request", async () => {
  await using world = await openEgressWorld();
  const sockets: Socket[] = [];
  const server = createHttpServer((incoming, response) => {
    // Closes at the next request on the same connection, as a host does whose time for idle ones ended.
    if (sockets.includes(incoming.socket)) return void incoming.socket.destroy();
    sockets.push(incoming.socket);
    response.end("hello");
  });
  await world.place("a.example.com", 80, server);
  expect((await world.send("http://a.example.com/")).body).toBe("hello");
  expect((await world.send("http://a.example.com/")).body).toBe("hello");
  expect(sockets).toHaveLength(2);
});

test("silent clients, hosts that do not answer and half-closed tunnels end", async () => {
  const limits = { headMs: 50, resolveMs: 50, connectMs: 50, halfClosedMs: 50, idleMs: 300 };
  await using world = await openEgressWorld({ limits });
  await world.place(
    "a.example.com",
    22,
    createServer({ allowHalfOpen: true }, (socket) => socket.resume()),
  );
  await world.place(
    "a.example.com",
    80,
    createHttpServer(() => {}),
  );
  for (const first of ["", "GET http://a", "\u0005", "\u0005\u0001\u0000\u0005"]) {
    const socket = await world.open();
    const closed = once(socket, "close");
    if (first !== "") socket.write(first);
    await once(socket.resume(), "end");
    socket.end();
    await closed;
  }
  expect((await world.send("http://a.example.com/")).body).toContain("It was silent for too long.");
  const { socket } = await world.connect("a.example.com:22");
  socket.end().resume();
  await once(socket, "end");
  const second = await world.connect("a.example.com:22");
  await once(second.socket.resume(), "end");
  second.socket.destroy();
  await using stuck = await openEgressWorld({ limits, resolve: async () => new Promise(() => {}) });
  expect((await stuck.connect("b.example.com:22")).reason).toContain("Its name was not resolved in time.");
});

test("no more connections than the maximum are served, and later ones are", async () => {
  await using world = await openEgressWorld({ limits: { maxConnections: 2 } });
  const [first, second] = [await world.open(), await world.open()];
  for (let at = 0; at < 2; at += 1) {
    const third = await world.open();
    third.end("GET http://a.example.com/ HTTP/1.1\r\n\r\n");
    expect(await readText(third)).toMatch(
      /^HTTP\/1.1 503 .*\r\n\r\nThis wall has 2 connections open, which is the maximum.\n$/s,
    );
  }
  expect(world.records).toMatchObject([
    { kind: "refusal", host: "(any host)", port: 0, reason: "too-many-connections", count: 1 },
  ]);
  expect(world.egress.refusalsSince(0).text).toBe(
    "Network: (any host) was refused 2 times (This wall has 2 connections open, which is the maximum).",
  );
  first.destroy();
  second.destroy();
  await expect.poll(async () => statusOf(world, "nowhere.example:22")).toBe(502);
});

test("whatever clients send, the proxy goes on", async () => {
  await using world = await openEgressWorld({ limits: { headMs: 500 } });
  await world.place(
    "a.example.com",
    80,
    createHttpServer((_, response) => response.end("hello")),
  );
  const words = fc.constantFrom(...fragments);
  const sent = fc.oneof(
    fc.array(words, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(""), "latin1")),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
    fc.uint8Array({ maxLength: 32 }).map((bytes) => Buffer.from([5, 1, 0, 5, 1, 0, ...bytes])),
  );
  await fc.assert(
    fc.asyncProperty(sent, async (bytes) => sendAndLeave(world, bytes)),
    { numRuns: 400 },
  );
  expect((await world.send("http://a.example.com/")).body).toBe("hello");
  await expect.poll(() => world.openUpstreams()).toBeLessThanOrEqual(1);
});

const fragments =
  `GET |CONNECT |POST |http://|a.example.com|:443|:80|/| HTTP/1.1| HTTP/9|\r\n|\r\n\r\n|Host: x|Content-Length: 5|
Content-Length: -1|Transfer-Encoding: chunked|Upgrade: websocket\r\nConnection: upgrade|Expect: 100-continue|\u0005\u0001\u0000|
\u0000|[::|%|\r\n0\r\n`.split("|");

async function sendAndLeave(world: EgressWorld, bytes: Buffer): Promise<void> {
  const socket = await world.open();
  const closed = once(socket, "close");
  socket.resume().end(bytes);
  setTimeout(() => socket.destroy(), 20);
  await closed;
}

/** 0 while the proxy takes no connection. */
async function statusOf(world: EgressWorld, target: string): Promise<number> {
  return world.connect(target).then(
    ({ status }) => status,
    () => 0,
  );
}
