import type { Approval } from "./approvals-store.ts";
import type { Summary } from "./summary.ts";

/** A notification about a conversation: an action needs approval, or a run ended. */
export type ConversationNotification = {
  readonly kind: "asks" | "done" | "failed";
  readonly conversationId: string;
  readonly title: string | null;
  /** The action that needs approval; empty for the end of a run. */
  readonly what: string;
};

/** The state at the last check, to compare with. */
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

/** What has changed since the baseline. Empty for the first check, and for ends of sub-agent tasks. */
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
