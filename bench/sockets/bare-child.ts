import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { openWholeCollector } from "../../packages/server/src/lib/collect-young.ts";

/** Bare `ws` in a separate process: prints its port, and for each message its memory in bytes. */
const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
server.on("connection", (socket) => socket.send("{}"));
await once(server, "listening");
const collect = openWholeCollector();
process.on("message", () => {
  collect?.();
  collect?.();
  process.send?.(process.memoryUsage.rss());
});
process.once("disconnect", () => process.exit(0));
process.send?.((server.address() as AddressInfo).port);
