import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

/** How long a client that sends on is read before its connection ends. */
const lingerMs = 2_000;

/**
 * Ends an answer. Where the connection ends with it, the rest of the request is read and dropped before, or it would be reset and an answer
 * that is on its way lost.
 */
export async function endAnswer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!response.shouldKeepAlive && !request.complete && !request.destroyed) {
    const done = new AbortController();
    const { signal } = done;
    request.resume();
    try {
      await Promise.race([
        ...["end", "close"].map(async (event) => once(request, event, { signal })),
        wait(lingerMs, undefined, { signal }),
      ]);
    } catch (error) {
      // The client left, which ends the answer too.
      if (!request.destroyed) throw error;
    } finally {
      done.abort();
    }
  }
  response.end();
}
