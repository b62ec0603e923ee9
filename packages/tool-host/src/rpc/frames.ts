import { hasMoreValues, maxJsonValues } from "@convoke/protocol/count-json-values";

/** Frames between a tool host and its client: JSON messages, and chunks of byte streams. */
export type Frame =
  | { readonly type: "message"; readonly message: Readonly<Record<string, unknown>> }
  | { readonly type: "chunk"; readonly id: number; readonly bytes: Buffer };

/** The other side violated the protocol; the connection cannot continue. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

/** A message exceeds the maximum frame size or number of values; nothing was sent. */
export class FrameTooLargeError extends Error {
  override readonly name = "FrameTooLargeError";
}

/**
 * A frame is a length (4 bytes, big endian, of what follows), one byte `J` or `C`, and the body: JSON text, or the stream's
 * id (4 bytes) and its bytes.
 */
export function encodeMessage(message: object, maxFrameBytes: number): Buffer {
  const text = JSON.stringify(message);
  const length = Buffer.byteLength(text) + 1;
  if (length > maxFrameBytes) {
    throw new FrameTooLargeError(
      `It is ${length} bytes long; a message between server and tool host may have ${maxFrameBytes}.`,
    );
  }
  const frame = Buffer.allocUnsafe(lengthBytes + length);
  frame.writeUInt32BE(length);
  frame[lengthBytes] = messageMark;
  frame.write(text, lengthBytes + 1);
  // The other side would close the connection. A frame with that many values has at least as many bytes.
  if (length > maxJsonValues && hasMoreValues(frame.subarray(lengthBytes + 1), maxJsonValues)) {
    throw new FrameTooLargeError(
      `It holds more than ${maxJsonValues} values, which a message between server and tool host may have.`,
    );
  }
  return frame;
}

/** The header of a chunk; its bytes are written separately, so they are never copied. */
export function encodeChunkHeader(id: number, byteCount: number): Buffer {
  const header = Buffer.allocUnsafe(lengthBytes + 5);
  header.writeUInt32BE(byteCount + 5);
  header[lengthBytes] = chunkMark;
  header.writeUInt32BE(id, lengthBytes + 1);
  return header;
}

/** Splits a byte stream into frames; buffers at most one incomplete frame. */
export class FrameReader {
  /** Maximum frame size, checked before the body is read; raised once the other side is authenticated. */
  maxFrameBytes: number;
  readonly #parts: Buffer[] = [];
  #byteCount = 0;

  constructor(maxFrameBytes: number) {
    this.maxFrameBytes = maxFrameBytes;
  }

  /** Yields the frames that these bytes complete; throws {@link FrameError} at the first invalid one. */
  *push(bytes: Buffer): Generator<Frame> {
    this.#parts.push(bytes);
    this.#byteCount += bytes.length;
    for (;;) {
      const length = this.#nextLength();
      if (length === undefined || this.#byteCount < lengthBytes + length) return;
      const all = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
      const rest = all.subarray(lengthBytes + length);
      this.#parts.length = 0;
      if (rest.length > 0) this.#parts.push(rest);
      this.#byteCount = rest.length;
      yield decodeFrame(all.subarray(lengthBytes, lengthBytes + length));
    }
  }

  #nextLength(): number | undefined {
    if (this.#byteCount < lengthBytes) return undefined;
    let [first] = this.#parts as [Buffer];
    if (first.length < lengthBytes) {
      first = Buffer.concat(this.#parts);
      this.#parts.splice(0, this.#parts.length, first);
    }
    const length = first.readUInt32BE(0);
    if (length < 1 || length > this.maxFrameBytes) {
      throw new FrameError(`A frame of ${length} bytes is not allowed (1 to ${this.maxFrameBytes}).`);
    }
    return length;
  }
}

const lengthBytes = 4;
const messageMark = 0x4a;
const chunkMark = 0x43;

function decodeFrame(frame: Buffer): Frame {
  const body = frame.subarray(1);
  if (frame[0] === messageMark) return { type: "message", message: parseMessage(body) };
  if (frame[0] !== chunkMark || body.length < 4) throw new FrameError("A frame has an unknown type.");
  return { type: "chunk", id: body.readUInt32BE(0), bytes: body.subarray(4) };
}

function parseMessage(body: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  // Checked before parsing, because a compromised host may send anything.
  if (hasMoreValues(body, maxJsonValues)) throw new FrameError("A frame holds more values than are read.");
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch (error) {
    throw new FrameError("A frame holds no JSON.", { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new FrameError("A frame holds JSON that is no object.");
  }
  return value as Record<string, unknown>;
}
