import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DatabaseUnavailableError } from "../../lib/database-unavailable.ts";
import { openConnection } from "./postgres-connection.ts";
import { PostgresClient } from "./postgres-client.ts";

/** Signed in; the process 7 answers; ready. */
const greeting = Buffer.from("5200000008000000004b0000000c00000007000000075a0000000549", "hex");

test("a connection that is greeted and then hears nothing more is given up, and a farewell waits for nobody", async () => {
  await using server = await startSilentServer();
  await expect(openConnection({ url: server.url, name: "test" })).rejects.toThrow(DatabaseUnavailableError);
  const client = new PostgresClient(server.url);
  await client.connect();
  await client.end();
});

/** What the process at the other end of a broken line is like: it takes connections, greets, and never answers or closes. */
async function startSilentServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const folder = mkdtempSync(join(tmpdir(), "convoke-silent-"));
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    // The other side breaks off when it likes.
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(greeting);
      socket.resume();
    });
  });
  await new Promise<void>((resolve) => server.listen(join(folder, ".s.PGSQL.5432"), resolve));
  return {
    url: `postgres://somebody@localhost/nothing?host=${encodeURIComponent(folder)}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
