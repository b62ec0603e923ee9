import { once } from "node:events";
import { createServer as createHttpServer, request } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { openEgressWorld } from "./testing/egress-world.ts";
import { token } from "./testing/placed-host.ts";

test("websockets pass with a secret in their request, and not to read-only hosts", async () => {
  await using world = await openEgressWorld({
    policy: { allow: ["api.example.com"], read_only: ["files.example.com"] },
    secrets: () => [token],
  });
  for (const host of ["api.example.com", "files.example.com"]) {
    const server = createHttpsServer(world.leaf(host));
    const sockets = new WebSocketServer({ server });
    sockets.on("connection", (socket, { headers }) => {
      socket.on("message", (data: Buffer) => socket.send(`${String(headers["x-a"])} ${data.toString()}`));
    });
    await world.place(host, 443, server);
  }
  const open = async (host: string): Promise<WebSocket> => {
    const socket = await world.secure(`${host}:443`);
    return new WebSocket(`ws://${host}/socket?x=1`, {
      createConnection: () => socket,
      headers: { "X-A": token.placeholder },
    });
  };
  const socket = await open("api.example.com");
  await once(socket, "open");
  socket.send("ping");
  expect(String((await once(socket, "message"))[0])).toBe(`${token.value} ping`);
  socket.close();
  await expect
    .poll(() => world.records)
    .toMatchObject([{ kind: "tunnel", path: "/socket", secrets: ["TOKEN"], host: "api.example.com" }]);
  const refused = await open("files.example.com");
  const [error] = (await once(refused, "error")) as [Error];
  expect(error.message).toBe("Unexpected server response: 403");
});

test("an upgrade that a host answers without one, or not at all, is recorded as a request", async () => {
  await using world = await openEgressWorld();
  const server = createHttpServer((_, response) => response.end("hello"));
  server.on("upgrade", (incoming, socket) => {
    if (incoming.url === "/gone") return void socket.destroy();
    socket.end("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 5\r\n\r\nhello");
  });
  await world.place("a.example.com", 80, server);
  const headers = { Connection: "Upgrade", Upgrade: "websocket" };
  expect(await world.send(`http://a.example.com/${"x".repeat(5_000)}?secret`, { headers })).toMatchObject({
    status: 426,
    body: "hello",
  });
  expect((await world.send("http://a.example.com/gone", { headers })).status).toBe(502);
  expect(world.records).toMatchObject([
    { kind: "request", method: "GET", path: `/${"x".repeat(999)}`, status: 426, receivedBytes: 5 },
    { kind: "request", path: "/gone", status: null },
  ]);
  expect(world.egress.totals()).toMatchObject([{ requests: 2, receivedBytes: 5 }]);
});

test("the path of a websocket is bounded in its record", async () => {
  await using world = await openEgressWorld();
  const server = createHttpServer();
  server.on("upgrade", (_, socket) =>
    socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
  );
  await world.place("a.example.com", 80, server);
  const asked = request({
    socketPath: world.socketPath,
    path: `http://a.example.com/${"x".repeat(5_000)}#y`,
    headers: { Connection: "Upgrade", Upgrade: "x" },
  }).end();
  const [, socket] = (await once(asked, "upgrade")) as [unknown, Socket];
  socket.destroy();
  await expect.poll(() => world.records).toMatchObject([{ kind: "tunnel", path: `/${"x".repeat(999)}` }]);
});
