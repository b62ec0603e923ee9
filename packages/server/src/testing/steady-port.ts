import { once } from "node:events";
import { createServer } from "node:net";

/** Below the range from which systems assign ports (from 32768 on Linux). */
const firstPort = 20_000;
const blockCount = 8;
const portsOfBlock = 1_500;

/** Concurrent workers of one test run have numbers, from 1; another program has none. */
const block = Number(process.env["VITEST_POOL_ID"] ?? 0) % blockCount;
let next = Math.floor(Math.random() * portsOfBlock);

/**
 * A free port on 127.0.0.1 that is given to nobody else while a server on it starts, or is killed and restarted: each worker of a test
 * run cycles through its own block. Concurrent test runs begin at random places.
 */
export async function findSteadyPort(): Promise<number> {
  for (;;) {
    next = (next + 1) % portsOfBlock;
    const port = firstPort + block * portsOfBlock + next;
    if (await isFree(port)) return port;
  }
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
