import type { WebSocket } from "ws";

/** How long clients have at shutdown to answer the close of their socket. */
const socketGraceMs = 500;
/**
 * Clients reconnect within 100 ms, so their sockets are closed one after another, to spread the load on the other
 * nodes.
 */
const msPerSocket = 1;
const longestSpreadMs = 2000;

/** Closes all of them within two seconds. A client that does not answer must not keep the process alive. */
export function closeSockets(sockets: ReadonlySet<Pick<WebSocket, "close" | "terminate" | "once">>): void {
  for (const [index, socket] of [...sockets].entries()) {
    const close = (): void => {
      socket.close(1001, "The server is shutting down");
      const deadline = setTimeout(() => socket.terminate(), socketGraceMs);
      socket.once("close", () => clearTimeout(deadline));
    };
    const waitMs = closingWaitMs(index, sockets.size);
    if (waitMs === 0) close();
    else setTimeout(close, waitMs);
  }
}

/** The delay before the socket of this index is closed. */
export function closingWaitMs(index: number, count: number): number {
  return Math.floor(index * Math.min(msPerSocket, longestSpreadMs / count));
}
