import type { ToolSession } from "@convoke/tool-host";
import { alwaysReady, type ToolSource } from "../tool-source.ts";

/** The tools of the workspace, which its tool host carries out and records. It takes every call that no other source owns. */
export function createHostSource(session: ToolSession): ToolSource {
  return {
    tools: () => session.tools,
    owns: () => true,
    ready: alwaysReady,
    execute: (request, options) => session.execute(request, options),
    state: (actionId) => session.state(actionId),
    // A host elsewhere has no such thing.
    announce: (actionId, tool) => session.announce?.(actionId, tool),
    cancel: (actionId) => session.cancel(actionId),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
