import type { Readable } from "node:stream";

/**
 * The bytes of a stream, or null when it gives more than `mostBytes`; then it is ended. What its sender says about the size is not
 * believed: a tool host that its agent has taken over says anything.
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
