import type { SearchPage, SnippetPart } from "@convoke/protocol";
import type { Journal, TextQuery } from "../journal/journal.ts";
import { readTerms, toSnippet } from "../journal/text-terms.ts";
import { invalidField } from "../lib/fault.ts";
import { formatInstant } from "../lib/instant.ts";
import type { Asker } from "../engine/create-input.ts";

export type Search = Omit<TextQuery, "ownerId" | "terms"> & {
  /** The query as typed. */
  readonly q: string;
};

/**
 * Titles and events of the caller's conversations that have every word of `q`. Titles are on the first page of a search
 * without filters.
 */
export async function searchEverything(
  journal: Pick<Journal, "getConversations" | "searchSummaries" | "searchTexts">,
  asker: Asker,
  { q, ...query }: Search,
): Promise<SearchPage> {
  const terms = readTerms(q);
  if (terms.length === 0) {
    throw invalidField(["query", "q"], "There is no word in this. Type one.", "string_too_short");
  }
  const ownerId = asker.userId;
  const [titles, page] = await Promise.all([
    query.pageId === undefined && isPlain(query)
      ? journal.searchSummaries({ ownerId, titleParts: terms, limit: maxTitles })
      : null,
    journal.searchTexts({ ...query, ownerId, terms }),
  ]);
  const ids = [...new Set(page.items.map(({ conversationId }) => conversationId))];
  const rows = await journal.getConversations(ids);
  const titleOf = new Map(rows.map((row) => [row?.id, row?.title ?? null]));
  const snippet = (text: string): SnippetPart[] =>
    toSnippet(text, terms).map((part) => ({ text: part.text, is_match: part.isMatch }));
  return {
    titles: (titles?.items ?? []).map((row) => ({
      conversation_id: row.id,
      updated_at: formatInstant(row.updatedAtMicros),
      snippet: snippet(row.title ?? ""),
    })),
    items: page.items
      // The conversation was deleted meanwhile.
      .filter(({ conversationId }) => titleOf.has(conversationId))
      .map((item) => ({
        conversation_id: item.conversationId,
        title: titleOf.get(item.conversationId) ?? null,
        event_id: item.eventId,
        timestamp: formatInstant(item.timestampMicros),
        kind: item.kind,
        source: item.source,
        tool_name: item.toolName,
        snippet: snippet(item.text),
      })),
    next_page_id: page.nextPageId,
    is_complete: page.isComplete,
    progress: Math.round(page.progress * 1000) / 1000,
  };
}

const maxTitles = 10;

function isPlain({ kind, source, conversationId, timestampGteMicros, timestampLtMicros }: Omit<Search, "q">) {
  return [kind, source, conversationId, timestampGteMicros, timestampLtMicros].every(
    (filter) => filter === undefined,
  );
}
