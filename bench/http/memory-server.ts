import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type MemoryServer = AsyncDisposable & { readonly port: number };

/** Answers each path with bytes from memory: the maximum that Node can serve. */
export async function startMemoryServer(bodies: ReadonlyMap<string, Buffer>): Promise<MemoryServer> {
  const server = createServer((request, response) => {
    const body = bodies.get(request.url ?? "");
    response.writeHead(body === undefined ? 404 : 200, {
      "content-type": "application/json",
      "content-length": body?.length ?? 0,
    });
    response.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
