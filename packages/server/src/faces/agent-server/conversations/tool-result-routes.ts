import type { SendToolResultsRequest } from "@convoke/protocol";
import type { Conversation } from "../../../engine/conversation.ts";
import type { ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import { describePendingCall, pendingCalls } from "../../../engine/state/pending-calls.ts";
import { parseStored } from "../../../events/parse-stored.ts";
import type { RouteHandler, RouteRequest } from "../../../http/mount.ts";
import type { Journal } from "../../../journal/journal.ts";
import { readToolResults } from "./read-tool-results.ts";

export type ToolResultRouteDeps = {
  readonly journal: Pick<Journal, "getEvents">;
  readonly describe: (request: RouteRequest) => Promise<ConversationInfoSource>;
  readonly open: (request: RouteRequest) => Promise<Conversation>;
};

/** Calls of client tools that wait for their results. */
export function toolResultHandlers({ journal, describe, open }: ToolResultRouteDeps) {
  return {
    getPendingToolCalls: async (request) => {
      const { id, state } = await describe(request);
      const pending = pendingCalls(state);
      const ids = pending.map((action) => action.id);
      const stored = await journal.getEvents(id, ids);
      const items = stored.flatMap((item, index) => {
        if (item === null) return [];
        const { event } = parseStored(id, item);
        if (event.kind !== "ActionEvent" || !event.action) return [];
        return [{ ...describePendingCall(pending[index]!), action: event.action }];
      });
      return { json: { items } };
    },

    sendToolResults: async (request) => {
      const results = readToolResults(request.body as SendToolResultsRequest, ["body"]);
      await (await open(request)).receive(results);
      return { json: { success: true } };
    },
  } satisfies Record<string, RouteHandler>;
}
