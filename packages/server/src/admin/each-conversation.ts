import type { ConversationRow, Journal } from "../journal/journal.ts";
import { itemsOfPages } from "../lib/items-of-pages.ts";

/** Every conversation of a store, of all owners, in the order of creation. */
export function eachConversation(journal: Journal): AsyncGenerator<ConversationRow> {
  return itemsOfPages((pageId) => journal.searchConversations({ sort: "CREATED_AT", limit: 100, pageId }));
}
