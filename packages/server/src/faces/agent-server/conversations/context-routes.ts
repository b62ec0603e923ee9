import type { agentServerRoutes } from "@convoke/protocol";
import { BranchReader } from "../../../agent/replay/branch-reader.ts";
import { readContext } from "../../../agent/replay/read-context.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import { loadState } from "../../../engine/state/load-state.ts";
import { parseStored } from "../../../events/parse-stored.ts";
import { openAsked, findAsked } from "../../../http/asked-conversation.ts";
import { Fault } from "../../../lib/fault.ts";
import { checkModelAddress } from "../../../models/model-address.ts";
import type { Handlers } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** The model's view of a conversation, and its title. Reading a context never loads the actor. */
export function contextHandlers({ journal, directory }: FaceDeps) {
  return {
    getEventContext: async (request) => {
      const id = await findAsked(directory, request);
      const row = await journal.getConversation(id);
      if (row === null) throw conversationMissing(id);
      const given = request.params.event_id;
      const eventId = given.toLowerCase();
      const [event] = await journal.getEvents(id, [eventId]);
      if (!event) throw new Fault("missing", "event_not_found", `Event not found: ${given}`);
      const { navigations, lastSeq } = await loadState(journal, row);
      const reader = new BranchReader({ journal, conversationId: id, navigations, lastSeq });
      const context = await readContext(reader, parseStored(id, event));
      if (context === null) {
        throw new Fault("conflict", "not_read_yet", `No model has been asked since event ${given}.`);
      }
      return { json: context };
    },

    generateTitle: async (request) => {
      const conversation = await openAsked(directory, request);
      const { llm = null, max_length: maxLength } = request.body ?? {};
      checkModelAddress(llm ?? {}, ["body", "llm"]);
      return { json: { title: await conversation.titling.propose(maxLength, llm) } };
    },
  } satisfies Partial<Handlers<typeof agentServerRoutes>>;
}
