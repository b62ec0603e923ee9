import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give out by themselves (from 32768 on Linux). */
const firstPort = 20_000;
const portCount = 12_000;

/**
 * A free port on 127.0.0.1 that nobody else is given while a server that listens on it starts, or is killed and started again: as long as
 * this process lives.
 */
export async function findSteadyPort(): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * portCount);
    if ((await mark(port)) && (await isFree(port))) return port;
  }
}

/**
 * Marks a port for this process by a socket of the other protocol with the same number, which the system takes back at the end of the
 * process. False when another one has it.
 */
async function mark(port: number): Promise<boolean> {
  const socket = createSocket("udp4");
  socket.bind({ port, address: "127.0.0.1", exclusive: true });
  try {
    await once(socket, "listening");
  } catch {
    socket.close();
    return false; // In use.
  }
  socket.unref();
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false; // In use.
  }
  server.close();
  await once(server, "close");
  return true;
}
