import { chmod, lstat, rename, unlink } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { once } from "node:events";
import type { ListenAddress } from "./address.ts";

export type Listener = {
  /** The address, with the chosen port when any free one was requested. */
  readonly address: ListenAddress;
  /** Stops accepting connections; open ones belong to the caller. */
  readonly stop: () => Promise<void>;
};

export async function listen(
  wanted: ListenAddress,
  onConnection: (socket: Socket) => void,
): Promise<Listener> {
  const server = createServer(onConnection);
  if ("socket" in wanted) return listenOnSocket(server, wanted.socket);
  await start(server, { host: wanted.address, port: wanted.port });
  const { port } = server.address() as AddressInfo;
  return { address: { address: wanted.address, port }, stop: () => stop(server) };
}

/** The longest path that every system takes for a unix socket (macOS: 103 bytes). */
const maxPathBytes = 103;

/**
 * The socket is created beside its path and renamed with its final mode, so that no other user can ever connect, and the socket
 * of a killed host is replaced.
 */
async function listenOnSocket(server: Server, path: string): Promise<Listener> {
  const temporary = join(dirname(path), `.${randomUUID().slice(0, 8)}`);
  if (Math.max(Buffer.byteLength(path), Buffer.byteLength(temporary)) > maxPathBytes) {
    throw new Error(`The socket path ${path} is longer than ${maxPathBytes} bytes; choose a shorter one.`);
  }
  if (await isServed(path)) throw new Error(`Another tool host listens on ${path} already.`);
  await start(server, { path: temporary });
  try {
    await chmod(temporary, 0o600);
    const { ino } = await lstat(temporary);
    await rename(temporary, path);
    return {
      address: { socket: path },
      stop: async () => {
        if ((await inodeOf(path)) === ino) await unlink(path);
        await stop(server);
      },
    };
  } catch (error) {
    await stop(server);
    throw error;
  }
}

async function isServed(path: string): Promise<boolean> {
  const socket = connect({ path });
  try {
    await once(socket, "connect");
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return false;
    // Nobody listens: a leftover socket, or a file that must not be replaced.
    if (code === "ECONNREFUSED" && (await lstat(path)).isSocket()) return false;
    throw new Error(`The socket path ${path} cannot be used (${String(code)}).`, { cause: error });
  } finally {
    socket.destroy();
  }
}

async function inodeOf(path: string): Promise<number | undefined> {
  return lstat(path).then(
    ({ ino }) => ino,
    () => undefined, // Another process removed it: nothing is left to remove.
  );
}

async function start(
  server: Server,
  options: { path: string } | { host: string; port: number },
): Promise<void> {
  server.listen(options);
  await once(server, "listening");
}

async function stop(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
