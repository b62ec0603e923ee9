import { once } from "node:events";
import type { Readable } from "node:stream";

/** Resolves when a stream may have something to read, or has ended. Rejects when it fails meanwhile. */
export async function nextReadable(stream: Readable): Promise<void> {
  const done = new AbortController();
  const { signal } = done;
  try {
    await Promise.race(["readable", "end", "close"].map(async (event) => once(stream, event, { signal })));
  } finally {
    done.abort();
  }
}
