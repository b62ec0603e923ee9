import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give out by themselves (from 32768 on Linux). */
const firstPort = 20_000;
const blockCount = 8;
const portsOfBlock = 1_500;

/** Workers of one test run that work at the same time have numbers of their own, from 1; another program has none. */
const block = Number(process.env["VITEST_POOL_ID"] ?? 0) % blockCount;
let next = Math.floor(Math.random() * portsOfBlock);

/**
 * A free port on 127.0.0.1 that nobody else is given while a server that listens on it starts, or is killed and started again: each worker
 * of a test run goes round in a block of its own. Two test runs at the same time begin at places drawn by lot.
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
