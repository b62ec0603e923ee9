import type { StoredEvent } from "../../journal/journal.ts";

/** A piece of a socket's stream is about this long, unless one event alone is longer. */
const pieceBytes = 256 * 1024;

/**
 * Events as the bytes of WebSocket text frames (RFC 6455, 5.2: unmasked, never fragmented), many frames to a piece.
 * Followers that are equally far get the same batch, so it is encoded once for all of them.
 */
export class EventFrames {
  readonly #encoded = new WeakMap<readonly StoredEvent[], readonly Buffer[]>();

  /** In the order of the events; every frame is whole in one piece. */
  of(events: readonly StoredEvent[]): readonly Buffer[] {
    const known = this.#encoded.get(events);
    if (known !== undefined) return known;
    const pieces = encodePieces(events);
    this.#encoded.set(events, pieces);
    return pieces;
  }
}

function encodePieces(events: readonly StoredEvent[]): Buffer[] {
  const pieces: Buffer[] = [];
  let texts: string[] = [];
  let length = 0;
  for (const { json } of events) {
    const size = frameLength(Buffer.byteLength(json));
    if (length > 0 && length + size > pieceBytes) {
      pieces.push(encodePiece(texts, length));
      texts = [];
      length = 0;
    }
    texts.push(json);
    length += size;
  }
  if (length > 0) pieces.push(encodePiece(texts, length));
  return pieces;
}

function encodePiece(texts: readonly string[], length: number): Buffer {
  const piece = Buffer.allocUnsafe(length);
  let at = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    at = writeHeader(piece, at, size);
    at += piece.write(text, at);
  }
  return piece;
}

function frameLength(payloadBytes: number): number {
  return payloadBytes + (payloadBytes < 126 ? 2 : payloadBytes < 65_536 ? 4 : 10);
}

/** The first byte says: last fragment, text. Returns where the payload begins. */
function writeHeader(piece: Buffer, at: number, payloadBytes: number): number {
  piece[at] = 0x81;
  if (payloadBytes < 126) {
    piece[at + 1] = payloadBytes;
    return at + 2;
  }
  if (payloadBytes < 65_536) {
    piece[at + 1] = 126;
    return piece.writeUInt16BE(payloadBytes, at + 2);
  }
  piece[at + 1] = 127;
  return piece.writeBigUInt64BE(BigInt(payloadBytes), at + 2);
}
