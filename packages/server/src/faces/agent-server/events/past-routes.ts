import type { ConversationInfo, PastState } from "@convoke/protocol";
import { viewKinds } from "../../../agent/history.ts";
import type { Directory } from "../../../directory/directory.ts";
import { readLandmarks } from "../../../reading/landmarks.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import { toConversationInfo, type ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import { PastStates } from "../../../engine/state/past-states.ts";
import { UpdateMarks } from "../../../reading/update-marks.ts";
import { parseStored } from "../../../events/parse-stored.ts";
import type { RouteHandler } from "../../../http/mount.ts";
import type { EventWithMeta, Journal } from "../../../journal/journal.ts";
import { Fault } from "../../../lib/fault.ts";
import { conversationIdOf } from "../../../http/conversation-id.ts";

export type PastRouteDeps = { readonly journal: Journal; readonly directory: Directory };

type Query = { readonly event_id?: string | null; readonly position?: number | null };

/** How far back the last used model is searched. */
const recentEvents = 200;

/** How a conversation stood at an event of its log. Needs neither its lease nor its actor. */
export function pastHandlers({ journal, directory }: PastRouteDeps) {
  const states = new PastStates(journal);
  const updates = new UpdateMarks(journal);
  return {
    getPast: async (request) => {
      const id = conversationIdOf(request);
      const described = await directory.describe(request.caller, id);
      const row = await journal.getConversation(id);
      if (described === null || row === null) throw conversationMissing(id);
      const event = await findEvent(journal, id, row.lastSeq, request.query);
      const seq = event?.seq ?? 0;
      const state = await states.at(row, seq);
      const { timestamp = null } = event === null ? {} : parseStored(id, event).event;
      const model = await modelAt(journal, id, seq);
      const json: PastState = {
        event_id: event?.id ?? null,
        timestamp,
        position: seq,
        length: row.lastSeq,
        conversation: withModel(
          toConversationInfo({ ...described, state } satisfies ConversationInfoSource),
          model,
        ),
        open_actions: state.openActions.map(({ id: actionId, toolName, toolCallId, gate }) => ({
          action_id: actionId,
          tool_name: toolName,
          tool_call_id: toolCallId,
          is_waiting: gate === "awaiting",
        })),
        queued: [...state.queued.filter(({ isFromUser }) => isFromUser), ...state.held].map(
          ({ id: held }) => held,
        ),
      };
      return { json };
    },

    getLandmarks: async (request) => {
      const id = conversationIdOf(request);
      const isThere = await directory.exists(request.caller, id);
      const row = isThere ? await journal.getConversation(id) : null;
      if (row === null) throw conversationMissing(id);
      return { json: await readLandmarks(journal, updates, row) };
    },
  } satisfies Record<string, RouteHandler>;
}

/** The requested event, by default the newest; null in an empty log. */
async function findEvent(
  journal: Journal,
  id: string,
  lastSeq: number,
  { event_id: eventId, position }: Query,
): Promise<EventWithMeta | null> {
  if (eventId) {
    const [event] = await journal.getEvents(id, [eventId.toLowerCase()]);
    if (!event) throw new Fault("missing", "event_not_found", `Event not found: ${eventId}`);
    return event;
  }
  const seq = Math.min(position ?? lastSeq, lastSeq);
  const [event] = seq === 0 ? [] : await journal.read(id, seq - 1, 1);
  return event === undefined ? null : { ...event, meta: null };
}

/** The model of the newest request before it; null when none is near. */
async function modelAt(journal: Journal, id: string, seq: number): Promise<string | null> {
  const stored = await journal.readKinds(id, viewKinds, Math.max(1, seq - recentEvents), seq);
  for (const item of stored.toReversed()) {
    const { event, meta } = parseStored(id, item);
    if (meta.request !== undefined && event.kind !== "Condensation") return meta.request.model;
  }
  return null;
}

function withModel(info: ConversationInfo, model: string | null): ConversationInfo {
  if (model === null) return info;
  return { ...info, agent: { ...info.agent, llm: { ...info.agent.llm, model } } };
}
