import type { Approval } from "./approvals-store.ts";
import type { Summary } from "./summary.ts";

/** An item for a notification: an action that needs approval, or a run that ended. */
export type ConversationNotification = {
  readonly kind: "asks" | "done" | "failed";
  readonly conversationId: string;
  readonly title: string | null;
  /** What asks; empty for the end of a run. */
  readonly what: string;
};

/** What was known when news were looked for the last time. */
export type NotificationBaseline = {
  readonly statuses: ReadonlyMap<string, string>;
  readonly waitingIds: ReadonlySet<string>;
};

export function toNotificationBaseline(
  summaries: readonly Summary[],
  waiting: readonly Approval[],
): NotificationBaseline {
  return {
    statuses: new Map(summaries.map(({ id, status }) => [id, status] as const)),
    waitingIds: new Set(waiting.map(({ actionId }) => actionId)),
  };
}

/** What has happened since; nothing for what was so when the page opened. Ends of sub-agents' tasks are news of their conversation. */
export function findNotifications(
  baseline: NotificationBaseline | null,
  summaries: readonly Summary[],
  waiting: readonly Approval[],
): readonly ConversationNotification[] {
  if (baseline === null || baseline.statuses.size === 0) return [];
  const asks = waiting
    .filter(({ actionId }) => !baseline.waitingIds.has(actionId))
    .map(({ conversationId, summary, tool }): ConversationNotification => {
      const title = summaries.find(({ id }) => id === conversationId)?.title ?? null;
      return { kind: "asks", conversationId, title, what: summary || tool };
    });
  const ends = summaries.flatMap(({ id, title, status, parentId }): ConversationNotification[] => {
    if (parentId !== null || baseline.statuses.get(id) !== "running") return [];
    const kind = status === "finished" ? "done" : status === "error" || status === "stuck" ? "failed" : null;
    return kind === null ? [] : [{ kind, conversationId: id, title, what: "" }];
  });
  return [...asks, ...ends];
}
