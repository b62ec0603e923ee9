import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openEgressWorld } from "../testing/egress-world.ts";

/** A proxy that answers `CONNECT` with these bytes, and echoes afterwards. */
async function openProxy(answer: string): Promise<{ port: number; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const server = createHttpServer();
  server.on("connect", (request, socket) => {
    asked.push(request);
    socket.write(answer);
    socket.on("error", () => {}).pipe(socket);
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, asked };
}

test("a target is reached through the machine's own proxy, with its login, and other targets directly", async () => {
  const { port, asked } = await openProxy("HTTP/1.1 200 OK\r\nX: y\r\n\r\nfirst ");
  await using world = await openEgressWorld({
    parentProxy: (host) => (host === "a.example.com" ? new URL(`http://ada:p%40ss@127.0.0.1:${port}`) : null),
  });
  const { socket } = await world.connect("a.example.com:22");
  socket.end("ping");
  expect(Buffer.concat(await socket.toArray()).toString()).toBe("first ping");
  expect(asked.map(({ url, headers }) => [url, headers["proxy-authorization"]])).toEqual([
    ["a.example.com:22", `Basic ${btoa("ada:p@ss")}`],
  ]);
  await world.place(
    "b.example.com",
    22,
    createServer((other) => void other.end("direct")),
  );
  const direct = await world.connect("b.example.com:22");
  expect(Buffer.concat(await direct.socket.toArray()).toString()).toBe("direct");
});

test("names that are private here are refused, and those that only the proxy knows are its business", async () => {
  const { port, asked } = await openProxy("HTTP/1.1 200 OK\r\n\r\n");
  await using world = await openEgressWorld({
    parentProxy: () => new URL(`http://127.0.0.1:${port}`),
    resolve: async (host) => {
      if (host === "unknown.example.com") throw new Error("ENOTFOUND");
      return [{ address: "10.0.0.1", family: 4 }];
    },
  });
  expect((await world.connect("private.example.com:22")).status).toBe(403);
  expect((await world.connect("169.254.169.254:22")).status).toBe(403);
  expect(asked).toEqual([]);
  const { status, socket } = await world.connect("unknown.example.com:22");
  socket.destroy();
  expect(status).toBe(200);
});

test.each([
  "intranet",
  "printer.local",
  "metadata.google.internal",
  "router.home.arpa",
  "a.localhost",
  "wiki.corp",
])("%s is not asked of the proxy when it is unknown here, unless the policy lists it", async (host) => {
  const { port, asked } = await openProxy("HTTP/1.1 200 OK\r\n\r\n");
  await using world = await openEgressWorld({
    policy: { allow: ["*:22"] },
    parentProxy: () => new URL(`http://127.0.0.1:${port}`),
    resolve: async () => Promise.reject(new Error("ENOTFOUND")),
  });
  expect((await world.connect(`${host}:22`)).reason).toContain("Its address is not a public one.");
  expect(asked).toEqual([]);
  world.egress.setPolicies({ policy: { private: [`${host}:22`] }, limitedBy: [] });
  const { status, socket } = await world.connect(`${host}:22`);
  socket.destroy();
  expect(status).toBe(200);
});

test("a denied name, and one beyond the maximum of lookups, is not asked of the proxy", async () => {
  const { port, asked } = await openProxy("HTTP/1.1 200 OK\r\n\r\n");
  await using world = await openEgressWorld({
    policy: { allow: ["*:22"], deny: ["a.example.com"] },
    parentProxy: () => new URL(`http://127.0.0.1:${port}`),
    limits: { maxLookups: 0 },
  });
  expect((await world.connect("a.example.com:22")).status).toBe(403);
  expect((await world.connect("b.example.com:22")).status).toBe(503);
  expect(asked).toEqual([]);
});

test.each([
  ["refuses", "HTTP/1.1 403 Forbidden\r\n\r\n"],
  ["speaks something else", "SSH-2.0-OpenSSH\r\n\r\n"],
  ["never ends its head", `HTTP/1.1 200 OK\r\n${"X: y\r\n".repeat(4_000)}`],
])("a proxy that %s is named", async (_case, answer) => {
  const { port } = await openProxy(answer);
  await using world = await openEgressWorld({ parentProxy: () => new URL(`http://127.0.0.1:${port}`) });
  expect((await world.connect("a.example.com:22")).reason).toBe(
    "a.example.com:22 could not be reached: The machine's own proxy did not connect to it.",
  );
});
