import type { Socket } from "node:net";
import { nextReadable } from "../../lib/next-readable.ts";

/**
 * Waits until a socket has at least one byte and `isEnough` of what it has, and puts all back. Null when it ends or stays silent before;
 * then it is destroyed.
 */
export async function peek(
  socket: Socket,
  timeoutMs: number,
  isEnough: (bytes: Buffer) => boolean = () => true,
): Promise<Buffer | null> {
  let bytes = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  try {
    for (;;) {
      const chunk = socket.read() as Buffer | null;
      if (chunk !== null) bytes = Buffer.concat([bytes, chunk]);
      if (bytes.length > 0 && isEnough(bytes)) break;
      if (chunk !== null) continue;
      if (socket.readableEnded || socket.destroyed) {
        socket.destroy();
        return null;
      }
      await nextReadable(socket).catch((error: unknown) => {
        // The socket failed: it is destroyed, which is seen above.
        if (!socket.destroyed) throw error;
      });
    }
    socket.unshift(bytes);
    return bytes;
  } finally {
    clearTimeout(timer);
  }
}

const tlsHandshake = 22;
const maxHelloBytes = 20_000;

export function isTls(bytes: Buffer): boolean {
  return bytes[0] === tlsHandshake;
}

/** True once the first TLS record is complete, and for whatever is no TLS. */
export function isWholeHello(bytes: Buffer): boolean {
  if (!isTls(bytes) || bytes.length > maxHelloBytes) return true;
  return bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt16BE(3);
}

/** False when a TLS client certainly does not offer HTTP/2; the name has a length before it in the list of protocols. */
export function mayOfferHttp2(hello: Buffer): boolean {
  return hello.includes("\u0002h2");
}
