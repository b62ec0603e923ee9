import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { forwardUpgrade } from "./forward.ts";

const accepted = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";

describe("an upgrade through the gateway", () => {
  test.for(["end", "resetAndDestroy"] as const)(
    "a client that leaves before the answer (%s) leaves nothing open",
    async (leave) => {
      await using world = await openWorld();
      const { client, inner } = await world.ask();
      client[leave]();
      await once(inner, "close");
      await world.untilClosed();
    },
  );

  test("what a client sends before the answer reaches the server inside, behind the request and before the rest", async () => {
    await using world = await openWorld();
    const { client, inner, received } = await world.ask();
    client.write("early ");
    inner.write(accepted);
    await once(client, "data");
    client.write("late");
    await expect.poll(() => received().split("\r\n\r\n")[1]).toBe("early late");
    inner.write("heard");
    const [answer] = (await once(client, "data")) as [Buffer];
    expect(answer.toString()).toBe("heard");
  });

  test("a client that sends endlessly before the answer is disconnected", async () => {
    await using world = await openWorld();
    const { client, inner } = await world.ask();
    client.on("error", () => {});
    client.write(Buffer.alloc(1_000_000));
    await once(inner, "close");
    await world.untilClosed();
  });
});

/** A gateway before a server that answers only what a test writes. */
async function openWorld() {
  await using scope = new AsyncDisposableStack();
  const silent = scope.adopt(createServer({ allowHalfOpen: true }), close);
  const gateway = scope.adopt(createHttpServer(), close);
  const [innerPort, outerPort] = await Promise.all([listen(silent), listen(gateway)]);
  gateway.on("upgrade", (request) => {
    const path = { sandboxId: "s", portKey: null, port: innerPort, prefix: "/p", rest: "/" };
    const context = { path, publicAddress: "http://127.0.0.1", remoteAddress: "" };
    forwardUpgrade(request, connect(innerPort, "127.0.0.1"), context);
  });
  const sockets: Socket[] = [];
  for (const server of [silent, gateway]) {
    server.on("connection", (socket: Socket) => {
      socket.on("error", () => {});
      sockets.push(socket);
    });
  }
  const owned = scope.move();
  return {
    ask: async () => {
      const connected = once(silent, "connection") as Promise<[Socket]>;
      const client = connect(outerPort, "127.0.0.1");
      client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
      const [inner] = await connected;
      let received = "";
      inner.on("data", (data) => (received += data.toString()));
      inner.once("end", () => inner.end());
      await expect.poll(() => received).toContain("\r\n\r\n");
      return { client, inner, received: () => received };
    },
    untilClosed: async () => {
      await expect.poll(() => sockets.filter(({ destroyed }) => !destroyed)).toEqual([]);
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await owned.disposeAsync();
    },
  };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}
