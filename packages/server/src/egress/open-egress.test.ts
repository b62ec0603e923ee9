import { once } from "node:events";
import { stat } from "node:fs/promises";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer, Socket } from "node:net";
import { expect, test } from "vitest";
import { openEgressWorld } from "./testing/egress-world.ts";

const echoServer = () => createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));

test("its socket is for its user only, replaces one that was left, and is gone at the end", async () => {
  const world = await openEgressWorld();
  expect((await stat(world.socketPath)).mode & 0o777).toBe(0o600);
  await world[Symbol.asyncDispose]();
  await expect(stat(world.socketPath)).rejects.toThrow("ENOENT");
});

test("a request with a whole address is sent on, with the host of the address and without headers of the connection", async () => {
  await using world = await openEgressWorld({ policy: { allow: ["files.example.com"] } });
  const seen: IncomingMessage[] = [];
  const server = createHttpServer((request, response) => {
    seen.push(request);
    response.writeHead(201, "Well made", { "X-Answer": ["one", "two"], "Keep-Alive": "timeout=9" });
    response.end("hello");
  });
  await world.place("files.example.com", 80, server);
  const answer = await world.send("http://FILES.example.com/a/../b?c=d", {
    headers: {
      host: "elsewhere.example.com",
      "Proxy-Authorization": "Basic eDp5",
      Connection: "close, X-Own",
      "X-Own": "1",
      "X-Kept": "2",
    },
  });
  expect(answer).toMatchObject({ status: 201, reason: "Well made", body: "hello" });
  expect(answer.headers["x-answer"]).toBe("one, two");
  const [request] = seen;
  expect(request!.url).toBe("/a/../b?c=d");
  expect(request!.headers).toEqual({ host: "files.example.com", "x-kept": "2", connection: "keep-alive" });
  expect(world.records).toMatchObject([
    {
      kind: "request",
      method: "GET",
      host: "files.example.com",
      port: 80,
      path: "/a/../b",
      status: 201,
      rule: "files.example.com",
      receivedBytes: 5,
      secrets: [],
    },
  ]);
  expect(world.egress.totals()).toEqual([
    { host: "files.example.com", port: 80, requests: 1, refusals: 0, sentBytes: 0, receivedBytes: 5 },
  ]);
});

test("a tunnel copies bytes both ways, half-closes, and is recorded at its end", async () => {
  await using world = await openEgressWorld({ policy: { allow: ["db.example.com:5432"] } });
  await world.place("db.example.com", 5432, echoServer());
  const { status, socket } = await world.connect("db.example.com:5432");
  expect(status).toBe(200);
  socket.end("ping");
  expect(await text(socket)).toBe("ping");
  await expect.poll(() => world.records).toHaveLength(1);
  expect(world.records).toMatchObject([
    {
      kind: "tunnel",
      host: "db.example.com",
      port: 5432,
      rule: "db.example.com:5432",
      path: null,
      sentBytes: 4,
      receivedBytes: 4,
    },
  ]);
});

test.each([
  ["a name", [3, 14, ...Buffer.from("db.example.com")]],
  ["an address", [1, 1, 0, 0, 1]],
])("SOCKS 5 with %s opens a tunnel", async (_case, address) => {
  await using world = await openEgressWorld({ policy: { allow: ["db.example.com:5432", "1.0.0.1:5432"] } });
  await world.place("db.example.com", 5432, echoServer());
  const socket = await world.open();
  socket.write(Buffer.from([5, 1, 0]));
  expect(await read(socket, 2)).toEqual(Buffer.from([5, 0]));
  // Sent before the answer, as eager clients do.
  socket.end(Buffer.from([5, 1, 0, ...address, 0x15, 0x38, ...Buffer.from("ping")]));
  expect(await read(socket, 10)).toEqual(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
  expect(await text(socket)).toBe("ping");
});

test.each([
  ["a refused name", [5, 1, 0, 3, 9, ...Buffer.from("x.example"), 0, 22], 2],
  ["a command other than CONNECT", [5, 2, 0, 1, 1, 1, 1, 1, 0, 80], 7],
  ["an unknown kind of address", [5, 1, 0, 9, 1], 8],
  ["port 0", [5, 1, 0, 1, 1, 1, 1, 1, 0, 0], 8],
])("SOCKS 5 answers %s with a code", async (_case, request, code) => {
  await using world = await openEgressWorld({ policy: "none" });
  const socket = await world.open();
  socket.write(Buffer.from([5, 1, 0, ...request]));
  expect((await read(socket, 12)).subarray(2)).toEqual(Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]));
  expect(world.resolved).toEqual([]);
});

test("SOCKS 5 with a login only is not spoken", async () => {
  await using world = await openEgressWorld();
  const socket = await world.open();
  socket.write(Buffer.from([5, 1, 2]));
  expect(await read(socket, 2)).toEqual(Buffer.from([5, 0xff]));
});

test("a refused name is not resolved, and the refusal is a sentence in reason and body", async () => {
  await using world = await openEgressWorld({ policy: { allow: ["files.example.com"] } });
  const sentence =
    "data.evil.example:80 was refused: This conversation's network policy has no rule that allows it. Ask for it with request_network.";
  const answer = await world.send("http://data.evil.example/");
  expect(answer).toMatchObject({ status: 403, reason: sentence, body: `${sentence}\n` });
  const tunnel = await world.connect("data.evil.example:22");
  expect(tunnel).toMatchObject({ status: 403, reason: sentence.replace(":80", ":22") });
  expect(world.resolved).toEqual([]);
  expect(world.dialled).toEqual([]);
});

test("equal refusals of a minute are one record with a count, and lines for the agent name each host once", async () => {
  await using world = await openEgressWorld({
    policy: { allow: [], deny: ["*.tracker.example"] },
    limits: { refusalWindowMs: 3_600_000 },
  });
  for (let at = 0; at < 3; at += 1) await world.send("http://files.example.com/");
  const { mark, text: lines } = world.egress.refusalsSince(0);
  expect(lines).toBe(
    "Network: files.example.com:80 was refused 3 times (no rule). Ask for it with request_network.",
  );
  expect(world.egress.refusalsSince(mark)).toEqual({ mark, text: "" });
  await world.send("http://a.tracker.example/");
  expect(world.egress.refusalsSince(mark).text).toBe(
    "Network: a.tracker.example:80 was refused (a rule denies it).",
  );
  await world.egress[Symbol.asyncDispose]();
  expect(world.records).toMatchObject([
    { kind: "refusal", host: "files.example.com", reason: "no-rule", count: 1 },
    { kind: "refusal", host: "a.tracker.example", reason: "denied", count: 1 },
    { kind: "refusal", host: "files.example.com", reason: "no-rule", count: 2 },
  ]);
});

test.each([
  ["http://127.0.0.1/", "127.0.0.1:80"],
  ["http://0x7f.1/", "127.0.0.1:80"],
  ["http://2130706433/", "127.0.0.1:80"],
  ["http://017700000001/", "127.0.0.1:80"],
  ["http://127.1:8000/", "127.0.0.1:8000"],
  ["http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]:80"],
  ["http://[0:0::1]/", "[::1]:80"],
  ["http://169.254.169.254/latest", "169.254.169.254:80"],
  ["http://localhost./", "localhost:80"],
])("%s is refused, whatever the policy", async (address, target) => {
  await using world = await openEgressWorld();
  world.answerWith("localhost", ["127.0.0.1", "::1"]);
  const { status, body } = await world.send(address);
  expect({ status, body }).toEqual({
    status: 403,
    body: `${target} was refused: Its address is not a public one. A policy can list the host as private.\n`,
  });
  expect(world.dialled).toEqual([]);
});

test("a name is resolved once, the checked address is dialled, and one private address refuses it", async () => {
  await using world = await openEgressWorld();
  await world.place("a.example.com", 22, echoServer());
  world.answerWith("a.example.com", ["1.0.0.1"], ["127.0.0.1"], ["1.0.0.1", "10.0.0.1"]);
  const { status, socket } = await world.connect("a.example.com:22");
  socket.destroy();
  expect(status).toBe(200);
  expect(world.resolved).toEqual(["a.example.com"]);
  expect(world.dialled).toEqual(["1.0.0.1:22"]);
  expect((await world.connect("a.example.com:22")).status).toBe(403);
  expect((await world.connect("a.example.com:22")).status).toBe(403);
  expect(world.dialled).toEqual(["1.0.0.1:22"]);
});

test("private hosts pass where all policies list them, except for the server's own listeners", async () => {
  const rules = { private: ["nas.example.com:22"], allow: ["10.0.0.7:22"] };
  await using world = await openEgressWorld({
    policy: rules,
    limitedBy: [{ source: "server", policy: rules }],
    isOwnListener: (address, port) => address === "10.0.0.9" && port === 22,
  });
  world.answerWith("nas.example.com", ["10.0.0.5"], ["10.0.0.9"], ["10.0.0.5"]);
  await world.connect("nas.example.com:22");
  await world.connect("10.0.0.7:22");
  expect(world.dialled).toEqual(["10.0.0.5:22", "10.0.0.7:22"]);
  expect((await world.connect("nas.example.com:22")).reason).toBe(
    "nas.example.com:22 was refused: The server itself listens there.",
  );
  world.egress.setPolicies({ policy: rules, limitedBy: [{ source: "server", policy: "all" }] });
  expect((await world.connect("nas.example.com:22")).status).toBe(403);
});

test("a grant widens the conversation's policy within the others, and ends with its tunnels", async () => {
  await using world = await openEgressWorld({
    policy: { allow: [] },
    limitedBy: [{ source: "server", policy: { allow: ["*.example.com:22"], deny: ["bad.example.com"] } }],
  });
  await world.place("a.example.com", 22, echoServer());
  expect((await world.connect("a.example.com:22")).status).toBe(403);
  world.egress.grant(["a.example.com:22", "bad.example.com:22", "other.example:22"], "run");
  const { status, socket } = await world.connect("a.example.com:22");
  expect(status).toBe(200);
  expect((await world.connect("bad.example.com:22")).reason).toContain(
    "The server's network policy denies bad.example.com.",
  );
  expect((await world.connect("other.example:22")).reason).toContain(
    "Only the operator of the server can change that.",
  );
  const closed = once(socket, "close");
  world.egress.revoke("run");
  socket.resume();
  await closed;
  expect((await world.connect("a.example.com:22")).status).toBe(403);
  expect(() => world.egress.grant(["https://x"], "run")).toThrow("hosts.0: Write a host without scheme");
});

test("a policy with a wrong host is refused, and names the field", async () => {
  await expect(openEgressWorld({ policy: { allow: ["a.example", "a b"] } })).rejects.toThrow(
    'network.allow.1: Write a host such as example.com, *.example.com or db.example.com:5432, not "a b".',
  );
});

test("read-only hosts are read over plain HTTP by their rules", async () => {
  await using world = await openEgressWorld({ policy: "registries" });
  await world.place(
    "deb.debian.org",
    80,
    createHttpServer((_, response) => response.end("package")),
  );
  expect(await world.send("http://deb.debian.org/x.deb")).toMatchObject({ status: 200, body: "package" });
  const refused = await world.send("http://deb.debian.org/x", { method: "POST", body: "data" });
  expect(refused.body).toBe("deb.debian.org:80 was refused: This host is read-only; POST is not allowed.\n");
});

test("what cannot be reached is a sentence", async () => {
  await using world = await openEgressWorld({
    connect: () => {
      const socket = new Socket();
      setImmediate(() => socket.destroy(Object.assign(new Error("no"), { code: "ECONNREFUSED" })));
      return socket;
    },
  });
  expect(await world.connect("a.example.com:22")).toMatchObject({
    status: 502,
    reason: "a.example.com:22 could not be reached: It refused the connection.",
  });
  world.answerWith("none.example.com", []);
  expect((await world.send("http://none.example.com/")).body).toBe(
    "none.example.com:80 could not be reached: Its name has no address.\n",
  );
});

async function read(socket: Socket, length: number): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read(length) as Buffer | null;
    if (bytes !== null) return bytes;
    await once(socket, "readable");
  }
}

async function text(socket: Socket): Promise<string> {
  return Buffer.concat(await socket.toArray()).toString();
}
