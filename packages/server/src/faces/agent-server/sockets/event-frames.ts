import type { StoredEvent } from "../../../journal/journal.ts";
import { shownJson } from "../../../journal/shown-event.ts";
import { madeOnce } from "../../../lib/made-once.ts";

/** The approximate length of a chunk of a socket's stream; one longer frame makes a longer chunk. */
const chunkBytes = 256 * 1024;
/** A longer event is split into frames, so that a slow client's progress is visible and pings fit between them. */
const longestFrameBytes = 1_000_000;

export type Chunk = {
  readonly bytes: Buffer;
  /** False between two frames of one event: only pings, pongs and a close may be sent there. */
  readonly endsMessage: boolean;
};

/**
 * Encodes events as WebSocket text messages (RFC 6455, 5.2 and 5.4: unmasked), many to a chunk. Followers at the same
 * position get the same batch, so it is encoded once for all of them.
 */
export class EventFrames {
  /** Chunks in the order of the events; no frame is split between chunks. */
  readonly of: (events: readonly StoredEvent[]) => readonly Chunk[];

  constructor(toShown: (json: string) => string = (json) => json) {
    this.of = madeOnce((events) => encodeChunks(events.map((event) => toShown(shownJson(event)))));
  }
}

function encodeChunks(jsons: readonly string[]): Chunk[] {
  const chunks: Chunk[] = [];
  let texts: string[] = [];
  let length = 0;
  const endChunk = (): void => {
    if (length > 0) chunks.push({ bytes: encodeChunk(texts, length), endsMessage: true });
    texts = [];
    length = 0;
  };
  for (const json of jsons) {
    const payloadBytes = Buffer.byteLength(json);
    const size = frameLength(payloadBytes);
    if (length + size > chunkBytes) endChunk();
    if (payloadBytes > longestFrameBytes) chunks.push(...encodeFragments(json));
    else {
      texts.push(json);
      length += size;
    }
  }
  endChunk();
  return chunks;
}

function encodeFragments(text: string): Chunk[] {
  const payload = Buffer.from(text);
  const chunks: Chunk[] = [];
  for (let from = 0; from < payload.length; from += chunkBytes) {
    const part = payload.subarray(from, from + chunkBytes);
    const endsMessage = from + chunkBytes >= payload.length;
    const bytes = Buffer.allocUnsafe(frameLength(part.length));
    const firstByte = (endsMessage ? lastFragment : 0) | (from === 0 ? textFrame : 0);
    part.copy(bytes, writeHeader(bytes, 0, part.length, firstByte));
    chunks.push({ bytes, endsMessage });
  }
  return chunks;
}

function encodeChunk(texts: readonly string[], length: number): Buffer {
  const chunk = Buffer.allocUnsafe(length);
  let at = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    at = writeHeader(chunk, at, size, lastFragment | textFrame);
    at += chunk.write(text, at);
  }
  return chunk;
}

function frameLength(payloadBytes: number): number {
  return payloadBytes + (payloadBytes < 126 ? 2 : payloadBytes < 65_536 ? 4 : 10);
}

/** Bits of a frame's first byte; a continuation frame has no kind. */
const lastFragment = 0x80;
const textFrame = 0x01;

/** Returns where the payload begins. */
function writeHeader(chunk: Buffer, at: number, payloadBytes: number, firstByte: number): number {
  chunk[at] = firstByte;
  if (payloadBytes < 126) {
    chunk[at + 1] = payloadBytes;
    return at + 2;
  }
  if (payloadBytes < 65_536) {
    chunk[at + 1] = 126;
    return chunk.writeUInt16BE(payloadBytes, at + 2);
  }
  chunk[at + 1] = 127;
  return chunk.writeBigUInt64BE(BigInt(payloadBytes), at + 2);
}
