import type { ToolSession } from "@convoke/tool-host";
import { orAborted } from "../../lib/or-aborted.ts";
import { withMethods } from "../../lib/with-methods.ts";
import { LeftOpenError } from "../../engine/run/executions.ts";

/**
 * A session whose host outlives this process: once `handedOver` aborts nothing of it is stopped or closed. Calls in progress stay open in
 * the log, and whoever goes on with the conversation finds them at the host by their ids.
 */
export function withHandOver(session: ToolSession, handedOver: AbortSignal): ToolSession {
  return withMethods(session, {
    execute: async (request, { signal, ...options } = {}) => {
      if (handedOver.aborted) throw new LeftOpenError();
      const stop = new AbortController();
      const onAbort = (): void => {
        if (!handedOver.aborted) stop.abort(signal?.reason);
      };
      if (signal?.aborted === true) onAbort();
      signal?.addEventListener("abort", onAbort, { once: true });
      try {
        return await orAborted(session.execute(request, { ...options, signal: stop.signal }), handedOver);
      } catch (error) {
        throw handedOver.aborted ? new LeftOpenError({ cause: error }) : error;
      } finally {
        signal?.removeEventListener("abort", onAbort);
      }
    },
    [Symbol.asyncDispose]: async () => {
      if (!handedOver.aborted) await session[Symbol.asyncDispose]();
    },
  });
}
