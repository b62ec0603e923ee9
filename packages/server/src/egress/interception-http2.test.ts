import { once } from "node:events";
import { type ServerHttp2Session } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { expect, test } from "vitest";
import { openEgressWorld } from "./testing/egress-world.ts";
import { echo, exchangeHttp2, openHttp2Session, openHttp2World, token } from "./testing/http2-world.ts";

test("a host that speaks HTTP/2 is spoken to in it, with secrets in headers and bodies, and masked echoes", async () => {
  await using world = await openHttp2World(echo);
  using session = await openHttp2Session(world);
  const plain = await exchangeHttp2(session, { ":path": "/plain" });
  expect(plain).toMatchObject({ headers: { ":status": 200, "x-host": "api.example.com" }, body: "" });
  const headers = {
    ":path": "/a?b=c",
    ":method": "POST",
    "content-type": "text/plain",
    "x-a": `${token.placeholder}|`,
  };
  expect((await exchangeHttp2(session, headers, token.placeholder)).body).toBe(
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
  await using world = await openHttp2World(echo);
  using session = await openHttp2Session(world);
  const answer = await exchangeHttp2(session, {
    ":path": "/",
    ":authority": "evil.example",
    host: "evil.example",
  });
  expect(answer.headers["x-host"]).toBe("api.example.com");
});

test("all requests of a wall to a host share one session, and a new one is opened after it ended", async () => {
  await using world = await openHttp2World(echo);
  const sessions: ServerHttp2Session[] = [];
  world.server.on("session", (session) => void sessions.push(session));
  using first = await openHttp2Session(world);
  using second = await openHttp2Session(world);
  await Promise.all([first, second].map(async (session) => exchangeHttp2(session, { ":path": "/" })));
  expect(sessions).toHaveLength(1);
  const closed = once(sessions[0]!, "close");
  sessions[0]!.close();
  await closed;
  expect((await exchangeHttp2(first, { ":path": "/" })).headers[":status"]).toBe(200);
  expect(sessions).toHaveLength(2);
});

test("the session to a host that gives way to another one ends when it is idle", async () => {
  await using world = await openHttp2World(echo, { maxReadHosts: 1 });
  const sessions: ServerHttp2Session[] = [];
  world.server.on("session", (session) => void sessions.push(session));
  using session = await openHttp2Session(world);
  await exchangeHttp2(session, { ":path": "/" });
  const closed = once(sessions[0]!, "close");
  // A refused host has a certificate too.
  world.egress.setPolicies({ policy: { allow: ["api.example.com"] }, limitedBy: [] });
  await world.secure("other.example.com:443");
  await closed;
  expect((await exchangeHttp2(session, { ":path": "/" })).headers[":status"]).toBe(200);
});

test("a client of HTTP/1.1 is served by HTTP/1.1, and a host without HTTP/2 offers none", async () => {
  await using world = await openHttp2World(echo);
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

test("a read-only host refuses by its rules in HTTP/2 too, without a request", async () => {
  await using world = await openHttp2World(echo);
  world.egress.setPolicies({ policy: { read_only: ["api.example.com"] }, limitedBy: [] });
  using session = await openHttp2Session(world);
  const { headers, body } = await exchangeHttp2(session, { ":path": "/", ":method": "DELETE" });
  expect({ status: headers[":status"], body }).toEqual({
    status: 403,
    body: "api.example.com:443 was refused: This host is read-only; DELETE is not allowed.\n",
  });
});
