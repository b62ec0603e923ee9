import { AnswerBound } from "../lib/answer-bound.ts";
import {
  longestAnswerBytes,
  tooLongAnswer,
  tooManyValues,
  webPageFailure,
  type AttemptContext,
} from "./answer.ts";
import type { Send } from "./provider-fetch.ts";

export type StreamingFetch = {
  readonly fetch: Send;
  /** The answer is complete: whatever the connection still does, its body ends now. */
  readonly end: () => void;
};

/**
 * A `fetch` for libraries that read bodies themselves: whatever comes from the provider ends its silence, a web page is
 * recognised, a body has a limit, and an answer that is complete does not wait for the connection to end.
 */
export function createStreamingFetch(
  send: Send,
  context: AttemptContext,
  { isBinary = false } = {},
): StreamingFetch {
  const ended = Promise.withResolvers<null>();
  return {
    end: () => ended.resolve(null),
    fetch: async (input, init) => {
      const response = await send(input, init);
      if (!response.ok || response.body === null) return response;
      const body = watchBody(response.body, context, { ended: ended.promise, isBinary });
      return new Response(body, { status: response.status, headers: response.headers });
    },
  };
}

function watchBody(
  body: ReadableStream<Uint8Array>,
  context: AttemptContext,
  { ended, isBinary }: { ended: Promise<null>; isBinary: boolean },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const bound = isBinary ? null : new AnswerBound({ isStream: true, maxBytes: longestAnswerBytes });
  // Ends a pending read at once; a body that failed already has nothing left to cancel.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      start: () => context.signal.addEventListener("abort", cancel, { once: true }),
      pull: async (controller) => {
        const next = await Promise.race([reader.read(), ended]);
        context.received();
        context.signal.throwIfAborted();
        if (next === null || next.done) {
          context.signal.removeEventListener("abort", cancel);
          cancel();
          if (next !== null && bound?.end() === "values") throw tooManyValues();
          controller.close();
          return;
        }
        if (
          bytes === 0 &&
          Buffer.from(next.value.subarray(0, 64)).toString("latin1").trimStart().startsWith("<")
        ) {
          cancel();
          throw webPageFailure();
        }
        bytes += next.value.length;
        if (bytes > longestAnswerBytes) {
          cancel();
          throw tooLongAnswer();
        }
        if (bound?.push(next.value) === "values") {
          cancel();
          throw tooManyValues();
        }
        controller.enqueue(next.value);
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
}
