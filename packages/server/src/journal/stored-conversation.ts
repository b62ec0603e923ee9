import type { ConversationRow } from "./journal.ts";

type FlagName = "isActive" | "isCopying" | "isArchived" | "isPinned";

/** A conversation as both stores select it; `Flag` is how the store writes a boolean. */
export type StoredConversation<Flag extends boolean | number = boolean | number> = Omit<
  ConversationRow,
  FlagName | "marks"
> & { readonly readEventId: string | null } & { readonly [Name in FlagName]: Flag };

/** The columns of the table `c` that both stores have. */
export const conversationColumns = `
  c.id, c.owner_id AS "ownerId", c.execution_status AS "executionStatus", c.created_at AS "createdAtMicros", c.title,
  c.sandbox_id AS "sandboxId", c.parent_id AS "parentId", c.host, c.is_copying AS "isCopying",
  c.is_archived AS "isArchived", c.is_pinned AS "isPinned", c.read_event_id AS "readEventId"`;

export function toConversation(row: StoredConversation): ConversationRow {
  const { isActive, isCopying, isArchived, isPinned, readEventId, ...rest } = row;
  const marks = { isPinned: isSet(isPinned), isArchived: isSet(isArchived), readEventId };
  return { ...rest, isActive: isSet(isActive), isCopying: isSet(isCopying), marks };
}

function isSet(flag: boolean | number): boolean {
  return flag === true || flag === 1;
}
