import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * What becomes of bytes: they arrive; wait at the line and arrive later; are lost in both directions; or requests arrive and answers are
 * lost.
 */
export type LineState = "pass" | "hold" | "drop" | "deafen";

/** The line of one server to a PostgreSQL at a socket. */
export type DatabaseLine = AsyncDisposable & {
  /** The database's, through this line. */
  readonly url: string;
  /** Back at `pass`, what waited is delivered, and connections that lost something are cut. */
  set(state: LineState): void;
};

type Connection = { readonly client: Socket; readonly server: Socket; hasLost: boolean };

/** New connections are taken in every state, as by a network that lost the server behind it. */
export async function openDatabaseLine(url: string): Promise<DatabaseLine> {
  const folder = mkdtempSync(join(tmpdir(), "convoke-line-"));
  const target = join(new URL(url).searchParams.get("host") ?? "", ".s.PGSQL.5432");
  const connections = new Set<Connection>();
  let state: LineState = "pass";
  const end = (connection: Connection): void => {
    connections.delete(connection);
    connection.client.destroy();
    connection.server.destroy();
  };
  const relay = createServer((client) => {
    const connection: Connection = { client, server: createConnection(target), hasLost: false };
    const { server } = connection;
    connections.add(connection);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on("error", () => end(connection));
      // Who waits for news of a line that is down hears of no end either.
      from.on("close", () => state === "pass" && end(connection));
      from.on("data", (bytes) => {
        if (state === "drop" || (state === "deafen" && from === server)) connection.hasLost = true;
        else to.write(bytes);
      });
      if (state === "hold") from.pause();
    }
  });
  await new Promise<void>((resolve) => relay.listen(join(folder, ".s.PGSQL.5432"), resolve));
  const own = new URL(url);
  own.searchParams.set("host", folder);
  return {
    url: own.href,
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
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
