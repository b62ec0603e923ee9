import type { ConversationInfo, PastState, overviewRoutes } from "@convoke/protocol";
import { viewKinds } from "../../../agent/history.ts";
import { conversationIdOf, findAsked } from "../../../http/asked-conversation.ts";
import { readLandmarks } from "../../../reading/landmarks.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import { toConversationInfo, type ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import { PastStates } from "../../../engine/state/past-states.ts";
import { UpdateMarks } from "../../../reading/update-marks.ts";
import { parseStored } from "../../../events/parse-stored.ts";
import type { EventWithMeta, Journal } from "../../../journal/journal.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Handlers, RequestOf } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** How far back the last used model is searched. */
const recentEvents = 200;

/** How a conversation stood at an event of its log. Needs neither its lease nor its actor. */
export function pastHandlers({ journal, directory }: FaceDeps) {
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
      const id = await findAsked(directory, request);
      const row = await journal.getConversation(id);
      if (row === null) throw conversationMissing(id);
      return { json: await readLandmarks(journal, updates, row) };
    },
  } satisfies Partial<Handlers<typeof overviewRoutes>>;
}

/** The requested event, by default the newest; null in an empty log. */
async function findEvent(
  journal: Journal,
  id: string,
  lastSeq: number,
  { event_id: eventId, position }: RequestOf<(typeof overviewRoutes)["getPast"]>["query"],
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
