import { once } from "node:events";
import { createServer as createHttpServer, request } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { EgressPolicies } from "./policy/egress-policy.ts";
import { connectTo, createEchoServer, readBytes } from "./testing/echo-server.ts";
import { type EgressWorld, openEgressWorld } from "./testing/egress-world.ts";
import { openWithSecret, token } from "./testing/placed-host.ts";

const only = (policy: EgressPolicies["policy"]): EgressPolicies => ({ policy, limitedBy: [] });

/** An egress whose policies change while it connects to a host. */
async function openChanging(before: EgressPolicies, after: EgressPolicies): Promise<EgressWorld> {
  const server = createEchoServer();
  const world: EgressWorld = await openEgressWorld({
    ...before,
    resolve: async () => [{ address: "10.0.0.1", family: 4 }],
    connect: () => {
      world.egress.setPolicies(after);
      return connectTo(server);
    },
  });
  await world.place("a.example.com", 22, server);
  return world;
}

const reach = only({ private: ["a.example.com:22"] });

test.each([
  ["denies the host", only("none"), "has no rule that allows it"],
  ["lists it as private no more", only({ allow: ["a.example.com:22"] }), "Its address is not a public one"],
  [
    "makes it read-only",
    only({ private: ["a.example.com:22"], read_only: ["a.example.com:22"] }),
    "This host is read-only now.",
  ],
  ["denies its address", only({ private: ["a.example.com:22"], deny: ["10.0.0.1"] }), "denies 10.0.0.1."],
])("a policy that %s while a tunnel is opened refuses it", async (_case, after, sentence) => {
  await using world = await openChanging(reach, after);
  const { status, reason } = await world.connect("a.example.com:22");
  expect(status).toBe(403);
  expect(reason).toContain(sentence);
  await expect.poll(() => world.records.map(({ kind }) => kind)).toEqual(["refusal"]);
});

test.each([
  ["a denied host", only("none")],
  ["a private host that is listed as such no more", only({ allow: ["a.example.com:22"] })],
  ["a host that is read-only now", only({ ...reach, read_only: ["a.example.com:22"] })],
])("an open tunnel to %s is cut", async (_case, after) => {
  await using world = await openChanging(reach, reach);
  const { socket } = await world.connect("a.example.com:22");
  socket.write("ping");
  expect(String(await readBytes(socket, 4))).toBe("ping");
  world.egress.setPolicies(reach);
  socket.write("pong");
  expect(String(await readBytes(socket, 4))).toBe("pong");
  const closed = once(socket.resume(), "close");
  world.egress.setPolicies(after);
  await closed;
  await expect.poll(() => world.records).toMatchObject([{ kind: "tunnel", sentBytes: 8 }]);
});

async function openWebsockets(onUpgrade: () => void): Promise<{ world: EgressWorld; socket: WebSocket }> {
  const world = await openWithSecret();
  const server = createHttpsServer(world.leaf("api.example.com"));
  server.on("upgrade", onUpgrade);
  new WebSocketServer({ server }).on("connection", (socket) =>
    socket.on("message", (data: Buffer) => socket.send(String(data))),
  );
  await world.place("api.example.com", 443, server);
  const tunnel = await world.secure("api.example.com:443");
  const socket = new WebSocket("ws://api.example.com/socket", {
    createConnection: () => tunnel,
    headers: { "X-A": token.placeholder },
  });
  return { world, socket };
}

test("an open websocket is cut when its host is read-only", async () => {
  const { world, socket } = await openWebsockets(() => {});
  await using _world = world;
  await once(socket, "open");
  world.egress.setPolicies(only("all"));
  socket.send("ping");
  expect(String((await once(socket, "message"))[0])).toBe("ping");
  const closed = once(socket, "close");
  world.egress.setPolicies(only({ read_only: ["api.example.com"] }));
  await closed;
});

test("a policy that changes while a websocket is opened refuses it", async () => {
  const { world, socket } = await openWebsockets(() =>
    world.egress.setPolicies(only({ read_only: ["api.example.com"] })),
  );
  await using _world = world;
  const [error] = (await once(socket, "error")) as [Error];
  expect(error.message).toBe("Unexpected server response: 403");
});

test("a request that writes is cut when its host is read-only, and one that reads goes on", async () => {
  await using world = await openEgressWorld({ policy: { allow: ["a.example.com"] } });
  const answers: (() => void)[] = [];
  const server = createHttpServer((_, response) => void answers.push(() => response.end("hello")));
  await world.place("a.example.com", 80, server);
  const reading = world.send("http://a.example.com/");
  const writing = world.send("http://a.example.com/", { method: "POST", body: "data" });
  await expect.poll(() => answers.length).toBe(2);
  world.egress.setPolicies(only({ read_only: ["a.example.com"] }));
  expect(await writing).toMatchObject({
    status: 403,
    body: "a.example.com:80 was refused: This host is read-only; POST is not allowed.\n",
  });
  for (const answer of answers) answer();
  expect((await reading).body).toBe("hello");
});

test("a body that is read while the policies change is not sent", async () => {
  await using world = await openWithSecret({ as: ["body"] });
  const server = createHttpsServer(world.leaf("api.example.com"), (_, response) => response.end("hello"));
  await world.place("api.example.com", 443, server);
  const socket = await world.secure("api.example.com:443");
  const asked = request({
    createConnection: () => socket,
    method: "POST",
    path: "/",
    headers: { "Content-Type": "text/plain", "Content-Length": 4, Expect: "100-continue" },
  });
  asked.flushHeaders();
  await once(asked, "continue");
  world.egress.setPolicies(only({ read_only: ["api.example.com"] }));
  asked.end("data");
  const [answer] = await once(asked, "response");
  expect(answer.statusCode).toBe(403);
  socket.destroy();
});

test("a kept connection to a host is not used when the host may not be private any more", async () => {
  const server = createHttpServer((_, response) => response.end("hello"));
  await using world = await openEgressWorld({
    policy: { private: ["a.example.com"] },
    resolve: async () => [{ address: "10.0.0.1", family: 4 }],
    connect: () => connectTo(server),
  });
  await world.place("a.example.com", 80, server);
  expect((await world.send("http://a.example.com/")).body).toBe("hello");
  world.egress.setPolicies(only({ allow: ["a.example.com"] }));
  expect((await world.send("http://a.example.com/")).status).toBe(403);
});

test("a rule that denies an address covers names that lead to it, however it is written", async () => {
  await using world = await openEgressWorld({ policy: { allow: ["*:*"], deny: ["1.0.0.9"] } });
  world.answerWith("a.example.com", ["1.0.0.8", "1.0.0.9"], ["::ffff:1.0.0.9"]);
  for (let at = 0; at < 2; at += 1)
    expect((await world.connect("a.example.com:22")).reason).toBe(
      "a.example.com:22 was refused: This conversation's network policy denies 1.0.0.9.",
    );
  expect(world.dialled).toEqual([]);
});

test("a client that leaves ends the connection that is being opened for it, and so does the end of the wall", async () => {
  const dialled: Socket[] = [];
  await using world = await openEgressWorld({
    connect: () => {
      // Never connects.
      const socket = connect({ port: 1, host: "never.invalid", lookup: () => {} });
      dialled.push(socket);
      return socket;
    },
  });
  const asked = request({ socketPath: world.socketPath, path: "http://a.example.com/" }).end();
  asked.on("error", () => {});
  await expect.poll(() => dialled.length).toBe(1);
  asked.destroy();
  await expect.poll(() => dialled[0]!.destroyed).toBe(true);
  const socket = await world.open();
  socket.write("CONNECT a.example.com:22 HTTP/1.1\r\n\r\n");
  await expect.poll(() => dialled.length).toBe(2);
  await world.egress.close();
  await expect.poll(() => dialled[1]!.destroyed).toBe(true);
});
