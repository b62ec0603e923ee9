import type { Glance } from "@convoke/protocol";

/** What a list shows of one conversation. */
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
  /** It came to rest with something that its user was not shown. */
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
    // Ids in text order are in log order. What works is not at its end.
    isUnread:
      summary.execution_status !== "running" && (summary.last_event_id ?? "") > (summary.read_event_id ?? ""),
  };
}

/** What a conversation needs of its user. */
export function attentionOf({ status }: Pick<Summary, "status">): "asks" | "works" | "trouble" | "rests" {
  if (status === "waiting_for_confirmation") return "asks";
  if (status === "running") return "works";
  return status === "error" || status === "stuck" ? "trouble" : "rests";
}
