import { createConnection, createServer, type Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A pooler between a client and a PostgreSQL at a socket. */
export type PoolingRelay = AsyncDisposable & { readonly url: string };

const greeting = "K".charCodeAt(0);
const notification = "A".charCodeAt(0);
const headBytes = 5;

/**
 * Forwards everything, but sends its own greeting, as every pooler does, and drops notifications when `keepsSessions` is false, as
 * poolers in transaction mode do.
 */
export async function startPoolingRelay(url: string, keepsSessions: boolean): Promise<PoolingRelay> {
  const folder = mkdtempSync(join(tmpdir(), "convoke-pooler-"));
  const target = join(new URL(url).searchParams.get("host") ?? "", ".s.PGSQL.5432");
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = createConnection(target);
    for (const socket of [client, upstream]) {
      open.add(socket);
      // A close of either side closes both.
      socket.on("error", () => {});
      socket.on("close", () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    let rest = Buffer.alloc(0);
    upstream.on("data", (data: Buffer) => {
      const [messages, left] = splitMessages(Buffer.concat([rest, data]));
      rest = left;
      for (const message of messages) {
        if (message[0] === notification && !keepsSessions) continue;
        if (message[0] === greeting) message.writeInt32BE(message.readInt32BE(headBytes) ^ 1, headBytes);
        client.write(message);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(join(folder, ".s.PGSQL.5432"), resolve));
  const own = new URL(url);
  own.searchParams.set("host", folder);
  return {
    url: own.href,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Complete messages of the server, and the beginning of the next. */
function splitMessages(bytes: Buffer<ArrayBuffer>): [Buffer[], Buffer<ArrayBuffer>] {
  const messages: Buffer[] = [];
  let at = 0;
  while (bytes.length - at >= headBytes) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    if (end > bytes.length) break;
    messages.push(bytes.subarray(at, end));
    at = end;
  }
  return [messages, bytes.subarray(at)];
}
