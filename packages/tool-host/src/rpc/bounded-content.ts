import { finished, Readable } from "node:stream";
import { ConnectionLostError } from "./connection-errors.ts";

export type ContentBounds = {
  /** The content ends there, even if its sender goes on. */
  readonly maxBytes: number;
  /** A reader that gets nothing for so long gets an error. */
  readonly stallMs: number;
};

/** The same bytes within the bounds, so that a sender that never ends holds no reader up. Destroying the result destroys `content`. */
export function boundContent(content: Readable, { maxBytes, stallMs }: ContentBounds): Readable {
  let left = maxBytes;
  let stalled: NodeJS.Timeout | undefined;
  const bounded = new Readable({
    read: () => {
      stalled ??= setTimeout(() => {
        const message = `the tool host sent nothing for ${stallMs / 1000} seconds`;
        bounded.destroy(new ConnectionLostError(message));
      }, stallMs);
      content.resume();
    },
    destroy: (error, done) => {
      clearTimeout(stalled);
      content.destroy();
      done(error);
    },
  });
  // Its reader gets the error; while nobody reads, it must not end the process.
  bounded.on("error", () => {});
  content.on("data", (bytes: Buffer) => {
    clearTimeout(stalled);
    stalled = undefined;
    const taken = bytes.subarray(0, left);
    left -= taken.length;
    if (!bounded.push(taken)) content.pause();
    if (left <= 0) bounded.push(null);
  });
  content.pause();
  finished(content, { writable: false }, (error) => {
    if (error) bounded.destroy(error);
    else bounded.push(null);
  });
  if (left <= 0) bounded.push(null);
  return bounded;
}
