import type { ViewEvent } from "../history-view.ts";

/**
 * Events that can only be forgotten together: one answer of the model with all its calls, its thinking and every result, or
 * a single message. Providers refuse a call without its result, and thinking without its call.
 */
export type Block = {
  readonly events: readonly ViewEvent[];
  /** Never forgotten: the system prompt, the task, the user's newest message, a call that has no result yet. */
  readonly isPinned: boolean;
  readonly isSummary: boolean;
};

/** The blocks of a condensed view, by their first events. */
export function blocksOf(view: readonly ViewEvent[]): Block[] {
  const groups = new Map<string, ViewEvent[]>();
  const keyOfAction = new Map<string, string>();
  const keyOfCall = new Map<string, string>();
  const open = new Set<string>();
  const add = (key: string, item: ViewEvent): void => {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  };
  for (const item of view) {
    const { event } = item;
    const own = `event ${event.id}`;
    switch (event.kind) {
      case "ActionEvent": {
        const key = `answer ${event.llm_response_id}`;
        keyOfAction.set(event.id!, key);
        keyOfCall.set(event.tool_call_id, key);
        if (event.action) open.add(event.id!);
        add(key, item);
        break;
      }
      case "ObservationEvent":
      case "UserRejectObservation":
        open.delete(event.action_id);
        add(keyOfAction.get(event.action_id) ?? own, item);
        break;
      case "AgentErrorEvent": {
        const answered = item.meta.answers;
        if (answered !== undefined) open.delete(answered);
        add(keyOfAction.get(answered ?? "") ?? keyOfCall.get(event.tool_call_id) ?? own, item);
        break;
      }
      default:
        add(own, item);
    }
  }
  const pinned = pinnedIds(view);
  return [...groups.values()].map((events) => ({
    events,
    isPinned: events.some(({ event }) => pinned.has(event.id!) || open.has(event.id!)),
    isSummary: events[0]!.event.kind === "CondensationSummaryEvent",
  }));
}

function pinnedIds(view: readonly ViewEvent[]): ReadonlySet<string> {
  const isUsers = ({ event }: ViewEvent): boolean => event.kind === "MessageEvent" && event.source === "user";
  const prompts = view.filter(({ event }) => event.kind === "SystemPromptEvent");
  return new Set(
    [...prompts, view.find(isUsers), view.findLast(isUsers)].flatMap((item) =>
      item === undefined ? [] : [item.event.id!],
    ),
  );
}
