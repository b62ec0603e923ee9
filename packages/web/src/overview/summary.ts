import type { Glance } from "@convoke/protocol";

/** The fields of a conversation that lists show. */
export type Summary = {
  readonly id: string;
  readonly title: string | null;
  readonly status: string;
  /** RFC 3339. */
  readonly updatedAt: string;
  readonly workingDir: string | null;
  readonly model: string | null;
  /** US dollars. */
  readonly cost: number;
  readonly parentId: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly isPinned: boolean;
  /** True if its last events have not been shown to the user. */
  readonly isUnread: boolean;
};

export function toSummary(summary: Glance): Summary {
  return {
    id: summary.id,
    title: summary.title,
    status: summary.execution_status,
    updatedAt: summary.updated_at,
    workingDir: summary.working_dir === "" ? null : summary.working_dir,
    model: summary.model,
    cost: summary.cost,
    parentId: summary.parent_conversation_id,
    tags: summary.tags,
    isPinned: summary.is_pinned,
    // Event ids sort in log order. A running conversation has not reached its end.
    isUnread:
      summary.execution_status !== "running" && (summary.last_event_id ?? "") > (summary.read_event_id ?? ""),
  };
}

/** How much attention a conversation needs from its user. */
export function attentionOf({ status }: Pick<Summary, "status">): "asks" | "works" | "trouble" | "rests" {
  if (status === "waiting_for_confirmation") return "asks";
  if (status === "running") return "works";
  return status === "error" || status === "stuck" ? "trouble" : "rests";
}
