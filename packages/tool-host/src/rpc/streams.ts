import { Readable } from "node:stream";
import type { Channel } from "./channel.ts";
import { FrameError } from "./frames.ts";
import { fromWireError, toWireError } from "./wire-error.ts";
import type { WireError } from "./messages.ts";

/** How many bytes a sender may be ahead of its reader; so much memory does one stream need at most on each side. */
export const windowBytes = 1024 * 1024;
const chunkBytes = 64 * 1024;

/** One stream being received: its content, and where its frames go. */
export type IncomingStream = {
  readonly content: Readable;
  readonly take: (bytes: Buffer) => void;
  readonly end: (error?: WireError) => void;
  readonly fail: (error: Error) => void;
};

export type IncomingDeps = {
  /** Lets the sender go on by so many bytes. */
  readonly onRead: (byteCount: number) => void;
  /** Called when nobody will read the rest. */
  readonly onAbandon: () => void;
};

/** Receives a stream; the sender is only let on when the content is read. */
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
  // Whoever reads it gets the error; while nobody does, it must not end the process.
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

/** One stream being sent: lets it go on, and stops it. */
export type OutgoingStream = {
  readonly allow: (byteCount: number) => void;
  readonly stop: () => void;
  /** Resolves when everything is sent or the stream was stopped; never rejects, a source that fails is told the other side. */
  readonly done: Promise<void>;
};

/** Sends a source as the stream `id`, never more than the reader has room for. */
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
