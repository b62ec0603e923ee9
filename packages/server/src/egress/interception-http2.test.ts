import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { expect, test } from "vitest";
import type { BoundSecret, EgressLimits } from "./egress.ts";
import { type EgressWorld, openEgressWorld } from "./testing/egress-world.ts";

const token: BoundSecret = {
  name: "TOKEN",
  placeholder: "cvk_TOKEN_0123456789abcdefghijklmn",
  value: "s3cret-Value+with/odd=chars",
  hosts: ["api.example.com"],
  as: ["header", "basic", "body"],
};

type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

async function openWorld(
  onStream: OnStream,
  limits: Partial<EgressLimits> = {},
): Promise<EgressWorld & { server: Http2SecureServer }> {
  const world = await openEgressWorld({ secrets: () => [token], limits });
  const server = createSecureServer({
    ...world.leaf("api.example.com"),
    allowHTTP1: true,
    strictSingleValueFields: false,
  });
  server.on("stream", onStream);
  await world.place("api.example.com", 443, server);
  return { ...world, server };
}

async function openSession(world: EgressWorld): Promise<ClientHttp2Session & Disposable> {
  const socket = await world.secure("api.example.com:443", ["h2", "http/1.1"]);
  expect(socket.alpnProtocol).toBe("h2");
  const session = connect("https://api.example.com", { createConnection: () => socket });
  session.on("error", () => {});
  return Object.assign(session, { [Symbol.dispose]: () => session.destroy() });
}

async function exchange(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<{ headers: IncomingHttpHeaders; body: string; trailers: IncomingHttpHeaders }> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return readAll(stream);
}

async function readAll(stream: ClientHttp2Stream) {
  let trailers: IncomingHttpHeaders = {};
  stream.on("trailers", (given) => (trailers = given));
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
  const text = Buffer.concat(await stream.toArray()).toString();
  return { headers, body: text, trailers };
}

const echo: OnStream = (stream, headers) => {
  stream.respond({
    ":status": 200,
    "content-type": "application/json",
    "x-host": headers[":authority"] ?? "",
  });
  if (headers["x-a"] !== undefined) stream.write(String(headers["x-a"]));
  stream.pipe(stream);
};

test("a host that speaks HTTP/2 is spoken to in it, with secrets in headers and bodies, and masked echoes", async () => {
  await using world = await openWorld(echo);
  using session = await openSession(world);
  const plain = await exchange(session, { ":path": "/plain" });
  expect(plain).toMatchObject({ headers: { ":status": 200, "x-host": "api.example.com" }, body: "" });
  const headers = {
    ":path": "/a?b=c",
    ":method": "POST",
    "content-type": "text/plain",
    "x-a": `${token.placeholder}|`,
  };
  expect((await exchange(session, headers, token.placeholder)).body).toBe(
    `${token.placeholder}|${token.placeholder}`,
  );
  await expect
    .poll(() => world.records)
    .toMatchObject([
      { kind: "request", method: "GET", path: "/plain", status: 200, secrets: [] },
      {
        kind: "request",
        method: "POST",
        path: "/a",
        status: 200,
        secrets: ["TOKEN"],
        sentBytes: token.value.length,
      },
    ]);
});

test("a forged authority is rewritten to the host of the connection", async () => {
  await using world = await openWorld(echo);
  using session = await openSession(world);
  const answer = await exchange(session, {
    ":path": "/",
    ":authority": "evil.example",
    host: "evil.example",
  });
  expect(answer.headers["x-host"]).toBe("api.example.com");
});

test("all requests of a wall to a host share one session, and a new one is opened after it ended", async () => {
  await using world = await openWorld(echo);
  const sessions: ServerHttp2Session[] = [];
  world.server.on("session", (session) => void sessions.push(session));
  using first = await openSession(world);
  using second = await openSession(world);
  await Promise.all([first, second].map(async (session) => exchange(session, { ":path": "/" })));
  expect(sessions).toHaveLength(1);
  const closed = once(sessions[0]!, "close");
  sessions[0]!.close();
  await closed;
  expect((await exchange(first, { ":path": "/" })).headers[":status"]).toBe(200);
  expect(sessions).toHaveLength(2);
});

test("the session to a host that gives way to another one ends when it is idle", async () => {
  await using world = await openWorld(echo, { maxReadHosts: 1 });
  const sessions: ServerHttp2Session[] = [];
  world.server.on("session", (session) => void sessions.push(session));
  using session = await openSession(world);
  await exchange(session, { ":path": "/" });
  const closed = once(sessions[0]!, "close");
  // A refused host has a certificate too.
  world.egress.setPolicies({ policy: { allow: ["api.example.com"] }, limitedBy: [] });
  await world.secure("other.example.com:443");
  await closed;
  expect((await exchange(session, { ":path": "/" })).headers[":status"]).toBe(200);
});

test("a client of HTTP/1.1 is served by HTTP/1.1, and a host without HTTP/2 offers none", async () => {
  await using world = await openWorld(echo);
  world.server.on("request", (_, response) => response.end("by 1.1"));
  expect((await world.get("https://api.example.com/")).body).toBe("by 1.1");
  await using old = await openEgressWorld({ secrets: () => [token] });
  const server = createHttpsServer(old.leaf("api.example.com"), (_, response) => response.end("old"));
  let connections = 0;
  server.on("secureConnection", () => (connections += 1));
  await old.place("api.example.com", 443, server);
  const socket = await old.secure("api.example.com:443", ["h2", "http/1.1"]);
  expect(socket.alpnProtocol).toBe("http/1.1");
  socket.destroy();
  expect((await old.get("https://api.example.com/")).body).toBe("old");
  // The connection that asked was used.
  expect(connections).toBe(1);
});

test("both directions stream at the same time and have trailers, as gRPC needs it", async () => {
  await using world = await openWorld((stream, headers) => {
    expect(headers["te"]).toBe("trailers");
    let sum = "";
    stream.on("trailers", (given) => (sum = String(given["x-sum"])));
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "x-sum": sum }));
    stream.on("data", (bytes: Buffer) => stream.write(`got ${String(bytes)}`));
    stream.once("end", () => stream.end());
  });
  using session = await openSession(world);
  const stream = session.request(
    { ":path": "/", ":method": "POST", te: "trailers" },
    { waitForTrailers: true },
  );
  stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "3" }));
  let trailers: IncomingHttpHeaders = {};
  stream.on("trailers", (given) => (trailers = given));
  await once(stream, "response");
  for (const word of ["one", "two", "three"]) {
    stream.write(word);
    expect(String((await once(stream, "data"))[0])).toBe(`got ${word}`);
  }
  stream.end();
  await once(stream.resume(), "close");
  expect(trailers).toMatchObject({ "grpc-status": "0", "x-sum": "3" });
  expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
});

test("trailers without a body, and a body without trailers, end the stream", async () => {
  await using world = await openWorld((stream, headers) => {
    stream.respond({ ":status": 200 }, { waitForTrailers: headers[":path"] === "/trailers" });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "7" }));
    stream.end(headers[":path"] === "/body" ? "body" : "");
  });
  using session = await openSession(world);
  expect(await exchange(session, { ":path": "/trailers" })).toMatchObject({
    body: "",
    trailers: { "grpc-status": "7" },
  });
  expect(await exchange(session, { ":path": "/body" })).toMatchObject({ body: "body", trailers: {} });
});

test("an answer before the end of the request passes, and so does a reset", async () => {
  await using world = await openWorld((stream, headers) => {
    stream.on("error", () => {});
    if (headers[":path"] === "/refused") return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    if (headers[":path"] === "/reset") return stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    stream.respond({ ":status": 413 });
    stream.end("too much", () => stream.close(constants.NGHTTP2_NO_ERROR));
  });
  using session = await openSession(world);
  const early = session.request({ ":path": "/", ":method": "POST" }, { endStream: false });
  early.write("some");
  expect(await readAll(early)).toMatchObject({ headers: { ":status": 413 }, body: "too much" });
  early.destroy();
  const reset = session.request({ ":path": "/reset" });
  const [headers] = (await once(reset, "response")) as [IncomingHttpHeaders];
  expect(headers[":status"]).toBe(502);
  const refused = session.request({ ":path": "/refused" });
  await expect(once(refused, "response")).rejects.toThrow("NGHTTP2_REFUSED_STREAM");
});

test("a client that cancels cancels the request, and a gone host is an answer in words", async () => {
  const cancelled = Promise.withResolvers<number>();
  await using world = await openWorld((stream, headers) => {
    if (headers[":path"] === "/gone") return stream.session?.destroy();
    stream.on("close", () => cancelled.resolve(stream.rstCode));
    stream.on("error", () => {});
    stream.respond({ ":status": 200 });
    stream.write("some");
  });
  using session = await openSession(world);
  const stream = session.request({ ":path": "/" });
  await once(stream, "data");
  stream.close(constants.NGHTTP2_CANCEL);
  expect(await cancelled.promise).toBe(constants.NGHTTP2_CANCEL);
  const gone = await exchange(session, { ":path": "/gone" });
  expect(gone.headers[":status"]).toBe(502);
});

test("20 MiB pass each way", async () => {
  await using world = await openWorld((stream) => {
    stream.respond({ ":status": 200 });
    stream.pipe(stream);
  });
  using session = await openSession(world);
  const stream = session.request({ ":path": "/", ":method": "POST" }, { endStream: false });
  const chunk = Buffer.alloc(1024 * 1024, "x");
  const sending = (async () => {
    for (let at = 0; at < 20; at += 1) if (!stream.write(chunk)) await once(stream, "drain");
    stream.end();
  })();
  let received = 0;
  for await (const bytes of stream as AsyncIterable<Buffer>) received += bytes.length;
  await sending;
  expect(received).toBe(20 * chunk.length);
});

test("a read-only host refuses by its rules in HTTP/2 too, without a request", async () => {
  await using world = await openWorld(echo);
  world.egress.setPolicies({ policy: { read_only: ["api.example.com"] }, limitedBy: [] });
  using session = await openSession(world);
  const { headers, body } = await exchange(session, { ":path": "/", ":method": "DELETE" });
  expect({ status: headers[":status"], body }).toEqual({
    status: 403,
    body: "api.example.com:443 was refused: This host is read-only; DELETE is not allowed.\n",
  });
});

test("an answer that Node does not send on is a sentence, and the proxy goes on", async () => {
  await using world = await openWorld((stream, headers) => {
    if (headers[":path"] === "/") return stream.respond({ ":status": 200 }, { endStream: true });
    stream.on("error", () => {});
    stream.respond({ ":status": 200, "content-type": ["a/b", "c/d"] as unknown as string });
    stream.end("x");
  });
  using session = await openSession(world);
  const odd = await exchange(session, { ":path": "/odd" });
  expect(odd.headers[":status"]).toBe(502);
  expect((await exchange(session, { ":path": "/" })).headers[":status"]).toBe(200);
});
