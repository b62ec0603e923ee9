import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmod, lstat, rename, rm } from "node:fs/promises";
import type { Server } from "node:net";
import { dirname, join } from "node:path";

/** The longest path that every system takes for a unix socket (macOS: 103 bytes). */
const maxPathBytes = 103;

/**
 * Listens on a Unix socket of mode 0600, in place of one of a server that was killed. When that fails, no socket is open and no file is
 * left. Later errors go to `onError`, such as a connection for which this process has no descriptor; the server goes on. Resolves with the
 * inode of the socket.
 */
export async function listen(
  server: Server,
  path: string,
  onError: (error: Error) => void,
): Promise<number | null> {
  if (Buffer.byteLength(path) > maxPathBytes) {
    throw new Error(`The socket path ${path} is longer than ${maxPathBytes} bytes; choose a shorter one.`);
  }
  const temporary = join(dirname(path), `.${randomUUID().slice(0, 8)}`);
  server.listen(temporary);
  await once(server, "listening");
  try {
    // Renamed with its final mode, so that no other user can ever connect.
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  } catch (error) {
    const closed = once(server, "close");
    server.close();
    await closed;
    await rm(temporary, { force: true });
    throw error;
  }
  server.on("error", onError);
  return await inodeOf(path);
}

/** Null when there is nothing. */
export async function inodeOf(path: string): Promise<number | null> {
  return await lstat(path).then(
    ({ ino }) => ino,
    // Removed with its folder.
    () => null,
  );
}
