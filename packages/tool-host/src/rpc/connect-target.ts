import { once } from "node:events";
import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { connect } from "node:net";
import type { NetConnectOpts, Socket } from "node:net";
import { parseAddress } from "./address.ts";
import { ToolHostRefusedError, ToolHostUnreachableError } from "./connection-errors.ts";

/** Opens a path without reading it and without following it (Linux, all architectures of Node). */
const openPathOnly = 0o10000000;

/**
 * A connection on its way to where a host listens. A sandbox can write where its socket lies: a link that it puts there, to a socket of
 * this machine for instance, is not followed.
 */
export async function connectTarget(target: NetConnectOpts): Promise<Socket> {
  if (!("path" in target)) return connect(target);
  if (process.platform !== "linux") {
    refuseOther(target.path, await found(lstat(target.path)));
    return connect(target);
  }
  const handle = await found(open(target.path, openPathOnly | constants.O_NOFOLLOW));
  try {
    refuseOther(target.path, await handle.stat());
    const socket = connect({ ...target, path: `/proc/self/fd/${handle.fd}` });
    const release = (): void => void handle.close().catch(() => {}); // It was only the way to the socket.
    socket.once("connect", release).once("error", release);
    return socket;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The bytes of a host at `unix:/path` or `tcp:address:port`, for whom it is passed on to. Resolves once connected. */
export async function openHostStream(address: string): Promise<Socket> {
  const socket = await connectTarget(parseAddress(address));
  try {
    await found(once(socket, "connect"));
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function found<Found>(lookup: Promise<Found>): Promise<Found> {
  try {
    return await lookup;
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw new ToolHostUnreachableError(`The tool host cannot be reached (${code}).`, { cause: error });
  }
}

function refuseOther(path: string, stat: { isSocket(): boolean }): void {
  if (!stat.isSocket())
    throw new ToolHostRefusedError(`${path} is no socket; links are not followed, and nothing is connected.`);
}
