import type { Glance as WireGlance } from "@convoke/protocol";

/** What a list shows of one conversation. */
export type Glance = {
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

export function toGlance(glance: WireGlance): Glance {
  return {
    id: glance.id,
    title: glance.title,
    status: glance.execution_status,
    updatedAt: glance.updated_at,
    workingDir: glance.working_dir === "" ? null : glance.working_dir,
    model: glance.model,
    cost: glance.cost,
    parentId: glance.parent_conversation_id,
    tags: glance.tags,
    isPinned: glance.is_pinned,
    // Ids in text order are in log order. What works is not at its end.
    isUnread:
      glance.execution_status !== "running" && (glance.last_event_id ?? "") > (glance.read_event_id ?? ""),
  };
}

/** What a conversation needs of its user. */
export function needOf({ status }: Pick<Glance, "status">): "asks" | "works" | "trouble" | "rests" {
  if (status === "waiting_for_confirmation") return "asks";
  if (status === "running") return "works";
  return status === "error" || status === "stuck" ? "trouble" : "rests";
}
