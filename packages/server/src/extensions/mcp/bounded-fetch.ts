import type { Fetch } from "../../lib/filtered-fetch.ts";

export type { Fetch } from "../../lib/filtered-fetch.ts";

const longestAnswerBytes = 32 * 1024 * 1024;
const newline = 10;

/**
 * A `fetch` whose answers cannot fill the memory: an answer, and on a stream of events each single event, has at most 32
 * MiB; what is longer breaks off with an error.
 */
export function createBoundedFetch(send: Fetch): Fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.body === null) return response;
    const isStream = (response.headers.get("content-type") ?? "").includes("text/event-stream");
    const { status, statusText, headers } = response;
    const body = response.body.pipeThrough(bound(isStream));
    const bounded = new Response(body, { status, statusText, headers });
    // `fetch` says where an answer came from after redirects; a made one has to be told.
    Object.defineProperty(bounded, "url", { value: response.url });
    Object.defineProperty(bounded, "redirected", { value: response.redirected });
    return bounded;
  };
}

function bound(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      // Every line of a stream ends an unfinished event's growth at the latest when the parser has seen it.
      const at = isStream ? chunk.lastIndexOf(newline) : -1;
      bytes = at === -1 ? bytes + chunk.length : chunk.length - at - 1;
      if (bytes > longestAnswerBytes) controller.error(new Error("The MCP server's answer is too long."));
      else controller.enqueue(chunk);
    },
  });
}
