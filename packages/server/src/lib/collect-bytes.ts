import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

/**
 * The bytes of a stream, or null when there are more than `maxBytes`; then it is ended. The sender's size is not
 * trusted: an agent may have taken over its tool host.
 */
export async function collectBytes(content: Readable, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop destroys the stream.
  for await (const chunk of content) {
    bytes += (chunk as Buffer).byteLength;
    if (bytes > maxBytes) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** The same of the body of an answer. */
export async function collectBody({ body }: Response, maxBytes: number): Promise<Buffer | null> {
  if (body === null) return Buffer.alloc(0);
  return await collectBytes(Readable.fromWeb(body as ReadableStream), maxBytes);
}
