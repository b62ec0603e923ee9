import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give out by themselves (from 32768 on Linux). */
const firstPort = 20_000;
const portCount = 12_000;

/** A free port on 127.0.0.1 that nobody else is given while a server that listens on it is killed and started again. */
export async function findSteadyPort(): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * portCount);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue; // In use.
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
