import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export type EgressListenerOrder = { readonly socketPath: string; readonly port: number };

/** What the thread of the listener says: once that it listens or why not, and then each connection that it could not accept. */
export type EgressListenerMessage =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "not accepted"; readonly reason: string };

/** With Node's 64 KiB a tunnel takes a third more processor time for each byte. */
const buffered = { allowHalfOpen: true, highWaterMark: 512 * 1024 };

/** Listens on 127.0.0.1, and copies bytes of each client to the Unix socket and back. */
export function listenForEgress(
  { socketPath, port }: EgressListenerOrder,
  post: (message: EgressListenerMessage) => void,
): Server {
  const server = createServer(buffered, (client) => {
    const way = connect({ path: socketPath, ...buffered });
    join(client, way);
    join(way, client);
  });
  server.on("error", ({ message }) =>
    post({ kind: server.listening ? "not accepted" : "failed", reason: message }),
  );
  return server.listen({ port, host: "127.0.0.1" }, () =>
    post({ kind: "listening", port: (server.address() as AddressInfo).port }),
  );
}

/** Copies one direction; the end of one side is the end of the other. */
function join(from: Socket, to: Socket): void {
  from.on("error", () => to.destroy());
  from.once("close", () => {
    // What it sent may still be on its way; without an end it is cut off.
    if (!from.readableEnded) to.destroy();
  });
  from.pipe(to);
}
