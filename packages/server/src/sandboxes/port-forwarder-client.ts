import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import type { Bind } from "./bubblewrap-arguments.ts";
import { SandboxError } from "./sandbox.ts";
import { withinDeadline } from "./within-deadline.ts";

const ownForwarder = fileURLToPath(new URL("./port-forwarder.ts", import.meta.url));

/** The script that makes the ports of a sandbox reachable, where the sandbox sees it; its tool host loads it. */
export function forwarderBind(forwarderFile = ownForwarder, folder = "/opt/convoke"): Bind {
  const target = `${folder}/door${forwarderFile.endsWith(".ts") ? ".mts" : ".mjs"}`;
  return { source: forwarderFile, target, isWritable: false };
}

/** Opens a path without reading it and without following it (Linux, all architectures of Node). */
const openPathOnly = 0o10000000;
const longestAnswer = 500;
/** Long enough for a busy sandbox: the forwarder connects within the sandbox. */
const longestWaitMs = 30_000;

/**
 * A byte stream to a TCP port behind the port forwarder at `socketPath`. The sandbox can write where the socket lies: a link that it
 * puts there, e.g. to a socket of this machine, is never followed, and one that never answers is left.
 */
export async function connectForwardedPort(
  socketPath: string,
  port: number,
  deadlineMs = longestWaitMs,
): Promise<Socket> {
  const handle = await openSocket(socketPath);
  let socket: Socket;
  try {
    socket = connect({ path: `/proc/self/fd/${handle.fd}`, allowHalfOpen: true });
    await once(socket, "connect");
  } catch (error) {
    throw new SandboxError("The sandbox's ports cannot be reached; its tool host may have ended.", {
      cause: error,
    });
  } finally {
    await handle.close();
  }
  socket.write(`${port}\n`);
  let answer: string;
  try {
    answer = await withinDeadline(readLine(socket), deadlineMs, `Reaching port ${port} of the sandbox`);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  if (answer === "ok") return socket;
  socket.destroy();
  throw new SandboxError(`Port ${port} of the sandbox cannot be reached: ${answer}`);
}

async function openSocket(path: string) {
  const handle = await open(path, openPathOnly | constants.O_NOFOLLOW).catch((error: unknown) => {
    throw new SandboxError("The sandbox has no way in to its ports.", { cause: error });
  });
  if ((await handle.stat()).isSocket()) return handle;
  await handle.close();
  throw new SandboxError("The sandbox has replaced the way in to its ports; nothing is connected.");
}

/** Reads byte by byte what comes before the first newline; what follows stays in the stream. */
async function readLine(socket: Socket): Promise<string> {
  let line = "";
  for (;;) {
    const bytes = socket.read(1) as Buffer | null;
    if (bytes === null) {
      if (socket.readableEnded || socket.destroyed) return line || "it closed the connection";
      await Promise.race([once(socket, "readable"), once(socket, "end"), once(socket, "close")]);
      continue;
    }
    const character = bytes.toString("latin1");
    if (character === "\n" || line.length > longestAnswer) return line;
    line += character;
  }
}
