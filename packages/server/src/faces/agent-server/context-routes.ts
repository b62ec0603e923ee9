import type { GenerateTitleRequest } from "@convoke/protocol";
import { isOnPath, navigationsIn, pathTo } from "../../agent/branches.ts";
import type { ViewEvent } from "../../agent/history-view.ts";
import { contextOf } from "../../agent/replay/event-context.ts";
import { readReplayLog } from "../../agent/replay/read-log.ts";
import type { Directory } from "../../conversation/directory.ts";
import { conversationMissing } from "../../conversation/refusals.ts";
import type { RouteHandler } from "../../http/mount.ts";
import type { Journal } from "../../journal/journal.ts";
import { Fault } from "../../lib/fault.ts";
import { checkModelAddress } from "../../models/model-address.ts";
import { conversationIdOf } from "./event-routes.ts";

export type ContextRouteDeps = { readonly journal: Journal; readonly directory: Directory };

/** What models read of a conversation, and its title. Reading a context never loads the actor. */
export function contextHandlers({ journal, directory }: ContextRouteDeps) {
  return {
    getEventContext: async (request) => {
      const id = conversationIdOf(request);
      if (!(await directory.exists(request.caller, id))) throw conversationMissing(id);
      const given = request.params["event_id"]!;
      const eventId = given.toLowerCase();
      const [event] = await journal.getEvents(id, [eventId]);
      if (!event) throw new Fault("missing", "event_not_found", `Event not found: ${given}`);
      const log = await readReplayLog(journal, id);
      const context = contextOf(log, eventId) ?? contextOf(log, nextReadId(log, event.seq) ?? "");
      if (context === null) {
        throw new Fault("conflict", "not_read_yet", `No model has been asked since event ${given}.`);
      }
      return { json: { ...context, event_id: eventId } };
    },

    generateTitle: async (request) => {
      const conversation = await directory.open(request.caller, conversationIdOf(request));
      const body = (request.body ?? {}) as GenerateTitleRequest;
      checkModelAddress(body.llm ?? {}, ["body", "llm"]);
      return { json: { title: await conversation.proposeTitle(body.max_length, body.llm ?? null) } };
    },
  } satisfies Record<string, RouteHandler>;
}

/** Kinds that no history shows are told by the next event that one does. */
function nextReadId(log: readonly ViewEvent[], seq: number): string | undefined {
  const navigations = navigationsIn(log);
  return log.find((item) => item.seq > seq && isOnPath(pathTo(navigations, item.seq), seq))?.event.id;
}
