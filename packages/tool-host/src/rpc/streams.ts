import { Readable } from "node:stream";
import type { Channel } from "./channel.ts";
import { FrameError } from "./frames.ts";
import { fromWireError, toWireError } from "./wire-error.ts";
import type { WireError } from "./messages.ts";

/** Maximum bytes that a sender may be ahead of its reader; this bounds the memory of a stream on each side. */
export const windowBytes = 1024 * 1024;
const chunkBytes = 64 * 1024;

/** One incoming stream: its content, and the handlers for its frames. */
export type IncomingStream = {
  readonly content: Readable;
  readonly take: (bytes: Buffer) => void;
  readonly end: (error?: WireError) => void;
  readonly fail: (error: Error) => void;
};

export type IncomingDeps = {
  /** Allows the sender this many more bytes. */
  readonly onRead: (byteCount: number) => void;
  /** Called when nobody will read the rest. */
  readonly onAbandon: () => void;
};

/** Receives a stream. The sender gets new credit only when the content is read. */
export function receiveStream(deps: IncomingDeps): IncomingStream {
  let allowed = windowBytes;
  let unacknowledged = 0;
  let isEnded = false;
  const content = new Readable({
    highWaterMark: chunkBytes,
    read: () => {
      if (unacknowledged === 0) return;
      allowed += unacknowledged;
      deps.onRead(unacknowledged);
      unacknowledged = 0;
    },
    destroy: (error, done) => {
      if (!isEnded) deps.onAbandon();
      isEnded = true;
      done(error);
    },
  });
  // The reader gets the error; without a reader it must not end the process.
  content.on("error", () => {});
  return {
    content,
    take: (bytes) => {
      if (isEnded) return;
      allowed -= bytes.length;
      if (allowed < 0) throw new FrameError("The other side sent more than it was allowed to.");
      unacknowledged += bytes.length;
      content.push(bytes);
    },
    end: (error) => {
      if (isEnded) return;
      isEnded = true;
      if (error === undefined) content.push(null);
      else content.destroy(fromWireError(error));
    },
    fail: (error) => {
      isEnded = true;
      content.destroy(error);
    },
  };
}

/** One outgoing stream: gives it credit, and stops it. */
export type OutgoingStream = {
  readonly allow: (byteCount: number) => void;
  readonly stop: () => void;
  /** Resolves when everything is sent or the stream was stopped. Never rejects: a failing source is reported to the other side. */
  readonly done: Promise<void>;
};

/** Sends a source as the stream `id`, within the reader's credit. */
export function sendStream(channel: Channel, id: number, source: AsyncIterable<Uint8Array>): OutgoingStream {
  let allowed = windowBytes;
  let isStopped = false;
  let wake = (): void => {};
  const untilAllowed = async (): Promise<void> => {
    if (!isStopped && allowed <= 0) await new Promise<void>((resolve) => (wake = resolve));
  };
  const pump = async (): Promise<void> => {
    for await (const bytes of source) {
      for (let offset = 0; offset < bytes.length;) {
        await untilAllowed();
        await channel.untilRoom();
        if (isStopped || !channel.isOpen) return;
        const chunk = bytes.subarray(offset, offset + Math.min(chunkBytes, allowed));
        allowed -= chunk.length;
        offset += chunk.length;
        channel.sendChunk(id, chunk);
      }
      if (isStopped) return;
    }
    channel.send({ id, end: true });
  };
  const done = pump().catch((error: unknown) => {
    if (!isStopped) channel.send({ id, end: true, error: toWireError(error) });
  });
  return {
    allow: (byteCount) => {
      allowed += byteCount;
      if (allowed > 0) wake();
    },
    stop: () => {
      isStopped = true;
      wake();
    },
    done,
  };
}
