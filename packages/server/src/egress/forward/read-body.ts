import type { Readable } from "node:stream";
import { ClientGone } from "../records/refusal.ts";
import { nextReadable } from "../../lib/next-readable.ts";

/** The whole body, when it has no more bytes than the maximum; otherwise null, and the stream has all of it as before. */
export async function readBody(stream: Readable, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const chunk = stream.read() as Buffer | null;
    if (chunk !== null) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) {
        stream.unshift(Buffer.concat(chunks));
        return null;
      }
      continue;
    }
    if (stream.readableEnded) return Buffer.concat(chunks);
    if (stream.destroyed) throw new ClientGone();
    await nextReadable(stream);
  }
}
