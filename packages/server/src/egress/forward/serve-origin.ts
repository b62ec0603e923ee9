import { createServer, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { socketBufferBytes } from "../addresses/sockets.ts";
import type { ForwardContext, Origin } from "./forward-context.ts";
import { forwardHttp1, maxHeaderBytes } from "./forward-http1.ts";
import { forwardUpgrade, plainAnswer } from "./forward-upgrade.ts";

/** What the address of a request means: where it leads, and the path there. Null when it cannot be sent on. */
export type ReadAddress = (address: string) => { readonly origin: Origin; readonly path: string } | null;

/** An HTTP/1.1 server for connections that are given to it, which sends requests on. `misread` answers those it cannot send on. */
export function createForwardServer(context: ForwardContext, read: ReadAddress, misread: string): Server {
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    highWaterMark: socketBufferBytes,
    requireHostHeader: false,
    requestTimeout: 0,
    keepAliveTimeout: 60_000,
  });
  server.timeout = context.limits.headMs;
  for (const event of ["request", "checkContinue"] as const) {
    server.on(event, (request, response) => {
      const address = read(request.url ?? "");
      if (address !== null) {
        // Whatever fails in answering a failure ends this connection only.
        forwardHttp1(context, address.origin, request, response, address.path).catch((error: unknown) => {
          response.destroy();
          context.report(error, "a failure of a request could not be answered");
        });
        return;
      }
      response.writeHead(400, { "Content-Type": "text/plain; charset=utf-8" });
      response.end(`${misread}\n`);
    });
  }
  server.on("upgrade", (request, socket, head) => {
    const address = read(request.url ?? "");
    if (address === null) return void socket.end(plainAnswer(400, misread));
    forwardUpgrade(context, address.origin, request, socket, head, address.path).catch((error: unknown) => {
      socket.destroy();
      context.report(error, "a failure of an upgrade could not be answered");
    });
  });
  server.on("clientError", onClientError);
  return server;
}

/** What Node's parser refuses, and a silent client. */
function onClientError(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  socket.end(plainAnswer(400, "The request is not HTTP that this proxy reads."));
}
