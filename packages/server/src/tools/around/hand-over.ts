import { orAborted } from "../../lib/or-aborted.ts";
import { LeftOpenError } from "../../engine/run/executions.ts";
import { forward, type ToolSource } from "../tool-source.ts";

/**
 * A source whose host outlives this process: once `handedOver` aborts nothing of it is stopped or closed. Calls in progress stay open in
 * the log, and the next owner of the conversation finds them at the host by their ids.
 */
export function leaveToHost(source: ToolSource, handedOver: AbortSignal): ToolSource {
  return {
    ...forward(source),
    execute: async (request, { signal, ...options } = {}) => {
      if (handedOver.aborted) throw new LeftOpenError();
      const stop = new AbortController();
      const onAbort = (): void => {
        if (!handedOver.aborted) stop.abort(signal?.reason);
      };
      if (signal?.aborted === true) onAbort();
      signal?.addEventListener("abort", onAbort, { once: true });
      try {
        return await orAborted(source.execute(request, { ...options, signal: stop.signal }), handedOver);
      } catch (error) {
        throw handedOver.aborted ? new LeftOpenError({ cause: error }) : error;
      } finally {
        signal?.removeEventListener("abort", onAbort);
      }
    },
    [Symbol.asyncDispose]: async () => {
      if (!handedOver.aborted) await source[Symbol.asyncDispose]();
    },
  };
}
