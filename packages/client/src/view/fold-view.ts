import type { Event } from "@convoke/protocol";
import type { FollowItem } from "../follow.ts";
import { emptyView, type ConversationView, type HeldMessage, type OpenAction } from "./conversation-view.ts";
import { foldEvent } from "./fold-event.ts";
import { foldSnapshot } from "./fold-field.ts";
import { foldAnswer } from "./live-answer.ts";
import { asRecord, type UnknownRecord } from "./unknown-record.ts";

/** The initial view when earlier events are not read: from the conversation as REST answers it. */
export function viewOf(info: UnknownRecord): ConversationView {
  return foldSnapshot(emptyView, info);
}

/** The view after one more thing that {@link ConvokeClient.follow} gave. */
export function foldItem(view: ConversationView, item: FollowItem): ConversationView {
  return item.type === "event" ? foldStored(view, item.event) : foldSignal(view, item.frame);
}

/** The view after a page of events, in the order of the log. */
export function foldEvents(view: ConversationView, events: readonly Event[]): ConversationView {
  return events.reduce(foldStored, view);
}

/** The actions that wait for their user. */
export function waitingActions({ status, openActions }: ConversationView): readonly OpenAction[] {
  return status === "waiting_for_confirmation" ? openActions.filter(({ isAccepted }) => !isAccepted) : [];
}

function foldStored(view: ConversationView, event: Event): ConversationView {
  const next = { ...foldEvent(view, event), lastEventId: event.id ?? view.lastEventId };
  if (view.standsAt === null || event.id === undefined || event.id > view.standsAt) return next;
  const { status, openActions, queued, stats } = view;
  return { ...next, status, openActions, queued, stats };
}

function foldSignal(view: ConversationView, frame: Readonly<Record<string, unknown>>): ConversationView {
  if (frame["kind"] === "Standing") return foldLiveStatus(view, frame as unknown as LiveStatusFrame);
  if (frame["key"] !== "full_state") {
    const answers = foldAnswer(view.answers, frame);
    return answers === view.answers ? view : { ...view, answers };
  }
  const value = asRecord(frame["value"]);
  return value === null ? view : foldSnapshot(view, value);
}

/** What the socket says with `standing=true`. */
type LiveStatusFrame = {
  readonly version: number;
  readonly last_event_id?: string | null;
  readonly execution_status?: ConversationView["status"];
  readonly open_actions?: readonly {
    readonly action_id: string;
    readonly tool_name: string;
    readonly tool_call_id: string;
    readonly is_waiting: boolean;
  }[];
  readonly queued: readonly string[];
  readonly held?: readonly HeldMessage[];
};

function foldLiveStatus(view: ConversationView, liveStatus: LiveStatusFrame): ConversationView {
  if (liveStatus.version < view.version) return view;
  return {
    ...view,
    version: liveStatus.version,
    standsAt: liveStatus.last_event_id ?? null,
    status: liveStatus.execution_status ?? view.status,
    openActions: (liveStatus.open_actions ?? []).map((action) => ({
      id: action.action_id,
      toolName: action.tool_name,
      toolCallId: action.tool_call_id,
      isAccepted: !action.is_waiting,
    })),
    queued: liveStatus.queued,
    held: liveStatus.held,
  };
}
