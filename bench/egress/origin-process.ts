import { once } from "node:events";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { OriginOrder, OriginPorts } from "./way-order.ts";

const block = Buffer.alloc(256 * 1024);

/** The hosts behind the proxies, in a process of their own: one sends raw bytes, one answers 50 bytes over TLS. */
process.once("message", (order: OriginOrder) => void serve(order));

async function serve({ key, cert, mebibytes }: OriginOrder): Promise<void> {
  const raw = createServer((socket) => {
    let left = mebibytes * 4;
    const send = (): void => {
      while (left > 0) {
        left -= 1;
        if (!socket.write(block)) return void socket.once("drain", send);
      }
      socket.end();
    };
    socket.on("error", () => socket.destroy());
    send();
  });
  const secure = createHttpsServer({ key, cert }, (_, response) => void response.end("x".repeat(50)));
  const ports: OriginPorts = { raw: await listen(raw), secure: await listen(secure) };
  process.send?.(ports);
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
