import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * `node copy-services.ts <port>`: what a copy of the machine has to reach, in a network of its own: services at a cloud's address for
 * metadata, at some address, and on loopback at the port, and a proxy that refuses nobody. Prints `ready` once all of them listen.
 */
const port = Number(process.argv[2]);
const places: readonly (readonly [string, number])[] = [
  ["169.254.169.254", 80],
  ["192.0.2.1", 443],
  ["192.0.2.1", 53],
  ["::", port],
];
const quietly = (socket: Socket): Socket => socket.on("error", () => socket.destroy());
const listen = async (server: Server, host: string, at: number): Promise<void> => {
  server.listen(at, host);
  await once(server, "listening");
};
for (const [host, at] of places)
  await listen(
    createServer((socket) => void quietly(socket).end()),
    host,
    at,
  );
const proxy = createServer((socket) => {
  quietly(socket).once("data", (bytes) => {
    const [, target = ""] = String(bytes).split(" ");
    const { hostname, port: asked } = new URL(`http://${target}`);
    const upstream = connect({ host: hostname.replaceAll(/[[\]]|\.$/g, ""), port: Number(asked || 80) });
    quietly(upstream).on("error", () => socket.destroy());
    upstream.once("connect", () => socket.end("HTTP/1.1 200 OK\r\n\r\n"));
  });
});
await listen(proxy, "127.0.0.1", 3_128);
console.log("ready");
