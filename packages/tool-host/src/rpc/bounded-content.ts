import { finished, Readable } from "node:stream";
import { ConnectionLostError } from "./connection-errors.ts";

export type ContentBounds = {
  /** Maximum number of bytes; the content ends there even if its sender continues. */
  readonly maxBytes: number;
  /** Timeout in milliseconds without new bytes; then the reader gets an error. */
  readonly stallMs: number;
};

/** The same bytes within the bounds, so that an endless sender blocks no reader. Destroying the result destroys `content`. */
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
  // The reader gets the error; without a reader it must not end the process.
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
