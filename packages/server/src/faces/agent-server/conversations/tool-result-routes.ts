import type { controlRoutes } from "@convoke/protocol";
import { describePendingCall, pendingCalls } from "../../../engine/state/pending-calls.ts";
import { parseStored } from "../../../events/parse-stored.ts";
import { openAsked, describeAsked } from "../../../http/asked-conversation.ts";
import type { Handlers } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { readToolResults } from "./read-tool-results.ts";

/** Calls of client tools that wait for their results. */
export function toolResultHandlers({ journal, directory }: FaceDeps) {
  return {
    getPendingToolCalls: async (request) => {
      const { id, state } = await describeAsked(directory, request);
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
      const results = readToolResults(request.body, ["body"]);
      await (await openAsked(directory, request)).receive(results);
      return { json: { success: true } };
    },
  } satisfies Partial<Handlers<typeof controlRoutes>>;
}
