import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";

/** State of a connection: bytes arrive; wait and arrive later; are lost in both directions; or requests arrive and replies are lost. */
export type LineState = "pass" | "hold" | "drop" | "deafen";

/** A proxy to a server whose connections can be disturbed. */
export type Line = AsyncDisposable & {
  /** Where it listens; 0 at a socket of the file system. */
  readonly port: number;
  /** Back at `pass`, waiting bytes are delivered, and connections that lost something are cut. */
  readonly set: (state: LineState) => void;
};

/** The path of a socket, or a port of 127.0.0.1. */
type Place = string | number;

type Connection = { readonly client: Socket; readonly server: Socket; hasLost: boolean };

/** Listens at `from`, with 0 at any port. New connections are accepted in every state, like a network that lost the server behind it. */
export async function openLine(from: Place, to: Place): Promise<Line> {
  const connections = new Set<Connection>();
  let state: LineState = "pass";
  const end = (connection: Connection): void => {
    connections.delete(connection);
    connection.client.destroy();
    connection.server.destroy();
  };
  const relay = createServer((client) => {
    const connection: Connection = { client, server: connect(to), hasLost: false };
    const { server } = connection;
    connections.add(connection);
    for (const [source, target] of [
      [client, server],
      [server, client],
    ] as const) {
      source.on("error", () => end(connection));
      // A client of a dead line does not see a close either.
      source.on("close", () => state === "pass" && end(connection));
      source.on("data", (bytes) => {
        if (state === "drop" || (state === "deafen" && source === server)) connection.hasLost = true;
        else target.write(bytes);
      });
      if (state === "hold") source.pause();
    }
  });
  await new Promise<void>((resolve) => {
    if (typeof from === "string") relay.listen(from, resolve);
    else relay.listen(from, "127.0.0.1", resolve);
  });
  return {
    port: typeof from === "string" ? 0 : (relay.address() as AddressInfo).port,
    set: (next) => {
      state = next;
      for (const connection of connections) {
        const { client, server, hasLost } = connection;
        if (next === "pass" && (hasLost || client.destroyed || server.destroyed)) end(connection);
        for (const socket of [client, server]) {
          if (next === "hold") socket.pause();
          else socket.resume();
        }
      }
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => relay.close(() => resolve()));
      for (const connection of connections) end(connection);
      await closed;
    },
  };
}

function connect(to: Place): Socket {
  return typeof to === "string" ? createConnection(to) : createConnection(to, "127.0.0.1");
}
