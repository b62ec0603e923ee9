import { createServer, type Socket } from "node:net";
import { encodeChunkHeader, encodeMessage, FrameReader } from "../rpc/frames.ts";
import { createNonce, proveKey } from "../rpc/prove-key.ts";
import type { ConnectOptions } from "../rpc/connect-host.ts";

const key = "a key for tests only";
const maxFrameBytes = 64 * 1024 * 1024;

export type Lie = {
  readonly id: number;
  readonly method: string;
  /** Sends a message unchanged. */
  readonly say: (message: object) => void;
  /** Sends a chunk of the request's stream, whether the reader has room for it or not. */
  readonly stream: (bytes: Buffer) => void;
  /** Sends bytes that need not be a frame. */
  readonly write: (bytes: Buffer) => void;
  readonly socket: Socket;
};

/** A compromised tool host: it has the key, speaks the protocol, and answers what the test wants. */
export async function openLyingHost(
  answer: (lie: Lie) => void,
): Promise<Pick<ConnectOptions, "address" | "key"> & AsyncDisposable> {
  const server = createServer((socket) => {
    const reader = new FrameReader(maxFrameBytes);
    const serverNonce = createNonce();
    const say = (message: object): void => void socket.write(encodeMessage(message, maxFrameBytes));
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      for (const frame of reader.push(bytes)) if (frame.type === "message") receive(frame.message);
    });
    function receive(message: Readonly<Record<string, unknown>>): void {
      const { clientNonce, proof, id, method } = message;
      if (typeof clientNonce === "string")
        say({ serverNonce, proof: proveKey(key, "host", { clientNonce, serverNonce }) });
      else if (proof !== undefined) say({ bootId: "boot", version: "1", catalogue: ["probe"] });
      else if ("ping" in message) say({ pong: 1 });
      else if (typeof id === "number" && typeof method === "string") {
        const stream = (bytes: Buffer): void => {
          socket.write(encodeChunkHeader(id, bytes.length));
          socket.write(bytes);
        };
        answer({ id, method, say, stream, write: (bytes) => void socket.write(bytes), socket });
      }
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as { readonly port: number };
  return {
    address: `tcp:127.0.0.1:${address.port}`,
    key,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}
