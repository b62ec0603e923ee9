import type { ConversationRow } from "../journal/journal.ts";
import type { Asker } from "../engine/create-input.ts";

/** A fork is nobody's before it is whole. */
export function isOwnedBy(asker: Asker, row: ConversationRow | null): row is ConversationRow {
  return row?.ownerId === asker.userId && !row.isCopying;
}
