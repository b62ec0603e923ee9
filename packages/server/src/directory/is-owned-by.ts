import type { ConversationRow } from "../journal/journal.ts";
import type { Asker } from "../engine/create-input.ts";

/** An incomplete fork has no owner. */
export function isOwnedBy(asker: Asker, row: ConversationRow | null): row is ConversationRow {
  return row?.ownerId === asker.userId && !row.isCopying;
}
