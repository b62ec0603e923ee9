import { once } from "node:events";
import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { connect } from "node:net";
import type { NetConnectOpts, Socket } from "node:net";
import { descriptorPath } from "../system/descriptor-path.ts";
import { systemTable } from "../system/process-table.ts";
import { parseAddress } from "./address.ts";
import { ToolHostRefusedError, ToolHostUnreachableError } from "./connection-errors.ts";

/** Opens a path without reading or following it (Linux, all architectures of Node). */
const openPathOnly = 0o10000000;

/**
 * Connects to a socket that a sandbox can write. If the sandbox replaces the socket by a link, for instance to a socket of this
 * machine, the link is not followed.
 */
export async function connectTarget(target: NetConnectOpts): Promise<Socket> {
  if (!("path" in target)) return connect(target);
  if (systemTable.kind !== "proc") {
    refuseOther(target.path, await found(lstat(target.path)));
    return connect(target);
  }
  const handle = await found(open(target.path, openPathOnly | constants.O_NOFOLLOW));
  try {
    refuseOther(target.path, await handle.stat());
    const socket = connect({ ...target, path: descriptorPath(handle.fd) });
    const release = (): void => void handle.close().catch(() => {}); // It was only used to reach the socket.
    socket.once("connect", release).once("error", release);
    return socket;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Connects to a host at `unix:/path` or `tcp:address:port`, to forward its bytes. Resolves once connected. */
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
