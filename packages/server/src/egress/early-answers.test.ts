import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, request } from "node:http";
import { createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { readText } from "./testing/echo-server.ts";
import { openEgressWorld } from "./testing/egress-world.ts";
import { openWithSecret, placeHost, token } from "./testing/placed-host.ts";

const large = Buffer.alloc(20 * 1024 * 1024, "x");

/** Answers before the body came, and reads nothing of it. */
const refusing = () =>
  createServer((socket) => {
    socket.once("data", () =>
      socket.pause().end("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 8\r\n\r\ntoo much"),
    );
    socket.on("error", () => socket.destroy());
  });

test.each(["keep-alive", "close"])(
  "a client with Connection: %s that still sends reads the answer of a host that reads no more",
  async (connection) => {
    await using world = await openEgressWorld();
    await world.place("a.example.com", 80, refusing());
    const socket = await world.open();
    const head = `POST http://a.example.com/ HTTP/1.1\r\nConnection: ${connection}\r\n`;
    socket.write(`${head}Content-Length: ${large.length}\r\n\r\n`);
    await once(socket, "readable");
    socket.write(large);
    if (connection === "keep-alive")
      socket.write("GET http://none.example.com/ HTTP/1.1\r\nConnection: close\r\n\r\n");
    const text = await readText(socket);
    expect(text).toMatch(/^HTTP\/1.1 413 .*\r\n\r\ntoo much/s);
    expect(text.includes("none.example.com:80 could not be reached")).toBe(connection === "keep-alive");
    expect(world.reported).toEqual([]);
  },
);

test("a refusal reaches a client that closes after its request and still sends", async () => {
  await using world = await openEgressWorld({ policy: "none" });
  const asked = request({
    socketPath: world.socketPath,
    method: "POST",
    path: "http://a.example.com/",
    headers: { host: "a.example.com" },
    agent: false,
  });
  const closed = once(asked, "close");
  asked.end(large);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  expect(answer.statusCode).toBe(403);
  await answer.resume().toArray();
  await closed;
});

test("a client that leaves in the middle of its body leaves no request at the host", async () => {
  await using world = await openEgressWorld();
  const ended = Promise.withResolvers<Error>();
  await world.place(
    "a.example.com",
    80,
    createHttpServer((incoming) => void incoming.on("error", ended.resolve).resume()),
  );
  const socket = await world.open();
  socket.write("POST http://a.example.com/ HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf");
  await expect.poll(() => world.openUpstreams()).toBe(1);
  socket.destroy();
  expect((await ended.promise).message).toBe("aborted");
  await expect.poll(() => world.records).toMatchObject([{ kind: "request", status: null }]);
  expect(world.reported).toEqual([]);
});

test.each([
  ["HEAD", 200],
  ["GET", 204],
  ["GET", 304],
])("an answer to %s with status %i has no body where it is masked", async (method, status) => {
  await using world = await openWithSecret();
  await placeHost(world, "api.example.com", (_, response) => {
    const size = status === 204 ? {} : { "Content-Length": gzipSync("hello").length };
    response.writeHead(status, {
      "Content-Type": "text/plain",
      "Content-Encoding": "gzip",
      ETag: token.value,
      ...size,
    });
    response.end();
  });
  const socket = await world.secure("api.example.com:443");
  const asked = request({
    createConnection: () => socket,
    method,
    path: "/",
    headers: { "X-A": token.placeholder, Connection: "keep-alive" },
  }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  expect(await answer.toArray()).toEqual([]);
  expect(answer.statusCode).toBe(status);
  expect(answer.headers).toMatchObject({ etag: token.placeholder, connection: "keep-alive" });
  expect(answer.headers["transfer-encoding"]).toBeUndefined();
  expect(answer.headers["content-length"]).toBeUndefined();
  socket.destroy();
  expect(world.reported).toEqual([]);
});

test("a mistake of ours is reported, and answered as a failure", async () => {
  const mistake = new TypeError("a mistake");
  await using world = await openEgressWorld({
    policy: { read_only: ["a.example.com"] },
    secrets: () => {
      throw mistake;
    },
  });
  expect((await world.get("https://a.example.com/").catch(() => null))?.status ?? 502).toBe(502);
  await expect.poll(() => world.reported).toContain(mistake);
});
