import type { Approval } from "./approvals-store.ts";
import type { Summary } from "./summary.ts";

/** An item for a notification: an action that needs approval, or a run that ended. */
export type News = {
  readonly kind: "asks" | "done" | "failed";
  readonly conversationId: string;
  readonly title: string | null;
  /** What asks; empty for the end of a run. */
  readonly what: string;
};

/** What was known when news were looked for the last time. */
export type Known = {
  readonly statuses: ReadonlyMap<string, string>;
  readonly asked: ReadonlySet<string>;
};

export function knownOf(summaries: readonly Summary[], waiting: readonly Approval[]): Known {
  return {
    statuses: new Map(summaries.map(({ id, status }) => [id, status] as const)),
    asked: new Set(waiting.map(({ actionId }) => actionId)),
  };
}

/** What has happened since; nothing for what was so when the page opened. Ends of sub-agents' tasks are news of their conversation. */
export function newsOf(
  known: Known | null,
  summaries: readonly Summary[],
  waiting: readonly Approval[],
): readonly News[] {
  if (known === null || known.statuses.size === 0) return [];
  const asks = waiting
    .filter(({ actionId }) => !known.asked.has(actionId))
    .map(({ conversationId, summary, tool }): News => {
      const title = summaries.find(({ id }) => id === conversationId)?.title ?? null;
      return { kind: "asks", conversationId, title, what: summary || tool };
    });
  const ends = summaries.flatMap(({ id, title, status, parentId }): News[] => {
    if (parentId !== null || known.statuses.get(id) !== "running") return [];
    const kind = status === "finished" ? "done" : status === "error" || status === "stuck" ? "failed" : null;
    return kind === null ? [] : [{ kind, conversationId: id, title, what: "" }];
  });
  return [...asks, ...ends];
}
