import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type SlowRelay = AsyncDisposable & { readonly url: string };

/** A proxy to a local server with limited bandwidth to its clients; nothing accumulates in it. */
export async function openSlowRelay(line: {
  readonly port: number;
  readonly bytesPerSecond: number;
}): Promise<SlowRelay> {
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    const server = connect({ port: line.port, host: "127.0.0.1" });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("data", (bytes) => server.write(bytes));
    client.on("close", () => server.destroy());
    void passOn(server, client, line.bytesPerSecond);
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      relay.close();
      await once(relay, "close");
    },
  };
}

/** Reads no faster than it writes, so that the server's side is as slow as the client's. */
async function passOn(from: Socket, to: Socket, bytesPerSecond: number): Promise<void> {
  try {
    for await (const bytes of from as AsyncIterable<Buffer>) {
      to.write(bytes);
      await sleep((bytes.length / bytesPerSecond) * 1000);
    }
  } catch {
    // Either side was cut, which ends this iteration.
  }
  to.destroy();
}
