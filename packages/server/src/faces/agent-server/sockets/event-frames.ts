import type { StoredEvent } from "../../../journal/journal.ts";
import { shownJson } from "../../../journal/shown-event.ts";

/** A piece of a socket's stream is about this long, unless one frame alone is longer. */
const pieceBytes = 256 * 1024;
/** A longer event goes in many frames, so that a slow client's progress shows and pings come through between them. */
const longestFrameBytes = 1_000_000;

export type Piece = {
  readonly bytes: Buffer;
  /** False between two frames of one event: nothing but pings, pongs and a close may be sent there. */
  readonly endsMessage: boolean;
};

/**
 * Events as the bytes of WebSocket text messages (RFC 6455, 5.2 and 5.4: unmasked), many of them to a piece.
 * Followers that are equally far get the same batch, so it is encoded once for all of them.
 */
export class EventFrames {
  readonly #encoded = new WeakMap<readonly StoredEvent[], readonly Piece[]>();
  readonly #toShown: (json: string) => string;

  constructor(toShown: (json: string) => string = (json) => json) {
    this.#toShown = toShown;
  }

  /** In the order of the events; every frame is whole in one piece. */
  of(events: readonly StoredEvent[]): readonly Piece[] {
    const known = this.#encoded.get(events);
    if (known !== undefined) return known;
    const pieces = encodePieces(events.map((event) => this.#toShown(shownJson(event))));
    this.#encoded.set(events, pieces);
    return pieces;
  }
}

function encodePieces(jsons: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  let texts: string[] = [];
  let length = 0;
  const endPiece = (): void => {
    if (length > 0) pieces.push({ bytes: encodePiece(texts, length), endsMessage: true });
    texts = [];
    length = 0;
  };
  for (const json of jsons) {
    const payloadBytes = Buffer.byteLength(json);
    const size = frameLength(payloadBytes);
    if (length + size > pieceBytes) endPiece();
    if (payloadBytes > longestFrameBytes) pieces.push(...encodeFragments(json));
    else {
      texts.push(json);
      length += size;
    }
  }
  endPiece();
  return pieces;
}

function encodeFragments(text: string): Piece[] {
  const payload = Buffer.from(text);
  const pieces: Piece[] = [];
  for (let from = 0; from < payload.length; from += pieceBytes) {
    const part = payload.subarray(from, from + pieceBytes);
    const endsMessage = from + pieceBytes >= payload.length;
    const bytes = Buffer.allocUnsafe(frameLength(part.length));
    const firstByte = (endsMessage ? lastFragment : 0) | (from === 0 ? textFrame : 0);
    part.copy(bytes, writeHeader(bytes, 0, part.length, firstByte));
    pieces.push({ bytes, endsMessage });
  }
  return pieces;
}

function encodePiece(texts: readonly string[], length: number): Buffer {
  const piece = Buffer.allocUnsafe(length);
  let at = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    at = writeHeader(piece, at, size, lastFragment | textFrame);
    at += piece.write(text, at);
  }
  return piece;
}

function frameLength(payloadBytes: number): number {
  return payloadBytes + (payloadBytes < 126 ? 2 : payloadBytes < 65_536 ? 4 : 10);
}

/** Bits of a frame's first byte; a frame that goes on with a message has no kind of its own. */
const lastFragment = 0x80;
const textFrame = 0x01;

/** Returns where the payload begins. */
function writeHeader(piece: Buffer, at: number, payloadBytes: number, firstByte: number): number {
  piece[at] = firstByte;
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
