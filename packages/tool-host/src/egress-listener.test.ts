import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type EgressListener, openEgressListener } from "./egress-listener.ts";
import { type EgressListenerMessage, listenForEgress } from "./listen-for-egress.ts";

async function openWay(
  onConnection: (socket: Socket) => void,
): Promise<{ socketPath: string; server: Server }> {
  const folder = await mkdtemp(join(tmpdir(), "listener-"));
  const socketPath = join(folder, "egress.sock");
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on("error", () => {}));
    onConnection(socket);
  });
  server.listen(socketPath);
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await rm(folder, { recursive: true });
  });
  return { socketPath, server };
}

const openListener = async (socketPath: string): Promise<EgressListener> =>
  openEgressListener({ socketPath, port: 0, onWarning: () => {} });

async function openClient(port: number): Promise<Socket> {
  const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  await once(client, "connect");
  return client.on("error", () => {});
}

test("bytes are copied both ways, and the end of one side is passed on", async () => {
  const { socketPath } = await openWay((socket) => {
    socket.on("data", (bytes) => void socket.write(bytes)).once("end", () => socket.end(" end"));
  });
  await using listener = await openListener(socketPath);
  const client = await openClient(listener.port);
  client.end(Buffer.alloc(3_000_000, "x"));
  const answer = Buffer.concat(await client.toArray());
  expect(answer.length).toBe(3_000_004);
  expect(answer.subarray(-4).toString()).toBe(" end");
});

test("a side that is gone takes the other with it", async () => {
  const given: Socket[] = [];
  const { socketPath, server } = await openWay((socket) => void given.push(socket.resume()));
  await using listener = await openListener(socketPath);
  const first = await openClient(listener.port);
  await expect.poll(() => given.length).toBe(1);
  const closed = once(given[0]!, "end");
  first.destroy();
  given[0]!.end();
  await closed;
  const second = await openClient(listener.port);
  await expect.poll(() => given.length).toBe(2);
  given[1]!.destroy();
  await once(second.resume(), "end");
  second.destroy();
  server.close();
});

test("without the server's socket a client is cut off", async () => {
  await using listener = await openListener(join(tmpdir(), "no-such-folder", "egress.sock"));
  const client = await openClient(listener.port);
  await once(client.resume(), "end");
  client.destroy();
});

test("a connection that cannot be accepted is reported, and the listener goes on", async () => {
  const { socketPath } = await openWay((socket) => void socket.end("hello"));
  const messages: EgressListenerMessage[] = [];
  const server = listenForEgress({ socketPath, port: 0 }, (message) => void messages.push(message));
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  for (let at = 0; at < 2; at += 1) server.emit("error", new Error("accept EMFILE"));
  const failed = { kind: "not accepted", reason: "accept EMFILE" };
  expect(messages).toEqual([{ kind: "listening", port }, failed, failed]);
  const client = await openClient(port);
  expect(Buffer.concat(await client.toArray()).toString()).toBe("hello");
  client.destroy();
});

test("a port that is taken is named", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  await expect(openEgressListener({ socketPath: "/none", port, onWarning: () => {} })).rejects.toThrow(
    `The proxy cannot listen on 127.0.0.1:${port}: listen EADDRINUSE`,
  );
  taken.close();
});
