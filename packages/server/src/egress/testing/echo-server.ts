import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Sends back what comes, and ends when the other side does. */
export function createEchoServer(): Server {
  return createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
}

/** Connects to a server of the test, once it listens. */
export function connectTo(server: Server): Socket {
  const { port } = server.address() as AddressInfo;
  return connect({ port, host: "127.0.0.1", allowHalfOpen: true });
}

/** Exactly so many bytes; what follows stays in the socket. */
export async function readBytes(socket: Socket, length: number): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read(length) as Buffer | null;
    if (bytes !== null) return bytes;
    await once(socket, "readable");
  }
}

/** Everything until the other side ends. */
export async function readText(socket: Socket): Promise<string> {
  return Buffer.concat(await socket.toArray()).toString();
}
