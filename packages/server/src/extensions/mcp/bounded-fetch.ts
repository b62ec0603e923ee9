import { AnswerBound, type Excess } from "../../lib/answer-bound.ts";
import type { Fetch } from "../../lib/filtered-fetch.ts";

export type { Fetch } from "../../lib/filtered-fetch.ts";

const longestAnswerBytes = 32 * 1024 * 1024;

/**
 * A `fetch` with bounded answers, which can neither exhaust the memory nor stall the server: an answer, or each event
 * of a stream, has at most 32 MiB and 200,000 values; larger ones fail with an error.
 */
export function createBoundedFetch(send: Fetch): Fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.body === null) return response;
    // A request for a document accepts any content type.
    const isStream =
      (new Headers(init?.headers).get("accept") ?? "").includes("text/event-stream") &&
      /^\s*text\/event-stream\s*(?:;|$)/i.test(response.headers.get("content-type") ?? "");
    const { status, statusText, headers } = response;
    const body = response.body.pipeThrough(bound(isStream));
    const bounded = new Response(body, { status, statusText, headers });
    // `fetch` sets the URL of a response after redirects; a constructed one needs it set.
    Object.defineProperty(bounded, "url", { value: response.url });
    Object.defineProperty(bounded, "redirected", { value: response.redirected });
    return bounded;
  };
}

const refusals: Readonly<Record<Excess, string>> = {
  bytes: "The MCP server's answer is too long.",
  values: "The MCP server's answer holds more values than are read.",
};

function bound(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  const watched = new AnswerBound({ isStream, maxBytes: longestAnswerBytes });
  return new TransformStream({
    transform: (chunk, controller) => {
      const excess = watched.push(chunk);
      if (excess === null) controller.enqueue(chunk);
      else controller.error(new Error(refusals[excess]));
    },
    flush: (controller) => {
      const excess = watched.end();
      if (excess !== null) controller.error(new Error(refusals[excess]));
    },
  });
}
