import type { Event, TaskItem } from "@convoke/protocol";
import type { ConversationView } from "./conversation-view.ts";
import { foldField } from "./fold-field.ts";
import { settleAnswers } from "./live-answer.ts";

/** Applies one stored event; kinds that it does not know change nothing. */
export function foldEvent(before: ConversationView, event: Event): ConversationView {
  const settled = settleAnswers(before, event);
  // An answer has read what was queued.
  const hasRead = settled.lastResponseId !== before.lastResponseId && before.queued.length > 0;
  const view = hasRead ? { ...settled, queued: [] } : settled;
  switch (event.kind) {
    case "MessageEvent":
      return event.source === "user" ? { ...view, queued: [...view.queued, event.id!] } : view;
    case "ActionEvent": {
      if (!event.action) return view;
      const { id, tool_name: toolName, tool_call_id: toolCallId } = event;
      return {
        ...view,
        openActions: [...view.openActions, { id: id!, toolName, toolCallId, isAccepted: false }],
      };
    }
    case "ObservationEvent": {
      const after = closed(view, event.action_id);
      const { observation } = event;
      return observation.kind === "TaskTrackerObservation"
        ? { ...after, tasks: (observation as { task_list?: TaskItem[] }).task_list ?? [] }
        : after;
    }
    case "UserRejectObservation":
      return closed(view, event.action_id);
    case "AgentErrorEvent": {
      // Ids of calls may come again; the error is about the newest one.
      const action = view.openActions.findLast(({ toolCallId }) => toolCallId === event.tool_call_id);
      return action === undefined ? view : closed(view, action.id);
    }
    case "Condensation": {
      const [taken, ...others] = event.forgotten_event_ids ?? [];
      const isTakenBack = others.length === 0 && taken !== undefined && view.queued.includes(taken);
      return isTakenBack ? { ...view, queued: view.queued.filter((id) => id !== taken) } : view;
    }
    case "ConversationStateUpdateEvent":
      return updated(view, event.key, event.value);
    default:
      return view;
  }
}

function closed(view: ConversationView, actionId: string): ConversationView {
  return { ...view, openActions: view.openActions.filter(({ id }) => id !== actionId) };
}

function updated(view: ConversationView, key: string | undefined, value: unknown): ConversationView {
  switch (key) {
    case "approvals": {
      const accepted = new Set((value as { accepted: readonly string[] }).accepted);
      const openActions = view.openActions.map((action) =>
        accepted.has(action.id) ? { ...action, isAccepted: true } : action,
      );
      return { ...view, openActions };
    }
    case "leaf_event_id":
      // What waited on the other branch waits no more.
      return { ...view, openActions: [], queued: [] };
    default:
      return foldField(view, key, value);
  }
}
