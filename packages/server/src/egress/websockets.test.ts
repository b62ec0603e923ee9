import { once } from "node:events";
import { createServer as createHttpsServer } from "node:https";
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
