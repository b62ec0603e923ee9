import { once } from "node:events";
import { stat } from "node:fs/promises";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { openEgressWorld } from "./testing/egress-world.ts";
import { createEchoServer, readText } from "./testing/echo-server.ts";

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
  await world.place("db.example.com", 5432, createEchoServer());
  const { status, socket } = await world.connect("db.example.com:5432");
  expect(status).toBe(200);
  socket.end("ping");
  expect(await readText(socket)).toBe("ping");
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
  await world.egress.close();
  expect(world.records).toMatchObject([
    { kind: "refusal", host: "files.example.com", reason: "no-rule", count: 1 },
    { kind: "refusal", host: "a.tracker.example", reason: "denied", count: 1 },
    { kind: "refusal", host: "files.example.com", reason: "no-rule", count: 2 },
  ]);
});

test("a grant widens the conversation's policy within the others, and ends with its tunnels", async () => {
  await using world = await openEgressWorld({
    policy: { allow: [] },
    limitedBy: [{ source: "server", policy: { allow: ["*.example.com:22"], deny: ["bad.example.com"] } }],
  });
  await world.place("a.example.com", 22, createEchoServer());
  expect((await world.connect("a.example.com:22")).status).toBe(403);
  const granted = ["a.example.com:22", "bad.example.com:22", "other.example:22"];
  world.egress.grant(granted);
  const { status, socket } = await world.connect("a.example.com:22");
  expect(status).toBe(200);
  expect((await world.connect("bad.example.com:22")).reason).toContain(
    "The server's network policy denies bad.example.com.",
  );
  expect((await world.connect("other.example:22")).reason).toContain(
    "Only the operator of the server can change that.",
  );
  const closed = once(socket, "close");
  world.egress.revoke(granted);
  socket.resume();
  await closed;
  expect((await world.connect("a.example.com:22")).status).toBe(403);
  expect(() => world.egress.grant(["https://x"])).toThrow("hosts.0: Write a host without scheme");
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
