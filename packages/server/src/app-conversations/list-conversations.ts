import { UnknownPageError, type AppConversationFilter } from "../journal/journal.ts";
import type { AppConversationRow, AppConversationStore } from "./app-conversation-store.ts";
import { itemsOfPages } from "../lib/items-of-pages.ts";

export type AppConversationSort =
  | "CREATED_AT"
  | "CREATED_AT_DESC"
  | "UPDATED_AT"
  | "UPDATED_AT_DESC"
  | "TITLE"
  | "TITLE_DESC";

/** The last three are compared here, with each row. */
export type ListFilter = AppConversationFilter & {
  /** In any case. */
  readonly titleContains?: string | undefined;
  readonly updatedGteMicros?: number | undefined;
  readonly updatedLtMicros?: number | undefined;
};

export type ListQuery = ListFilter & {
  readonly sort: AppConversationSort;
  readonly limit: number;
  /** Id of the first conversation of this page. */
  readonly pageId?: string | undefined;
};

/** How many rows are read in one go. */
const chunk = 250;

/**
 * One page of ids. In the order of creation it costs what it shows, plus what the title and update filters leave out; the
 * other orders read all of the owner's conversations.
 */
export async function listConversations(
  store: AppConversationStore,
  query: ListQuery,
): Promise<{ rows: AppConversationRow[]; nextPageId: string | null }> {
  const { pageId } = query;
  if (pageId !== undefined && (await store.get(query.ownerId, pageId)) === null) throw unknownPage(pageId);
  const wanted = query.limit + 1;
  const found: AppConversationRow[] = [];
  if (query.sort === "CREATED_AT" || query.sort === "CREATED_AT_DESC") {
    const size = isCompared(query) ? chunk : Math.min(chunk, wanted);
    for await (const row of passing(store, query, pageId, size)) {
      found.push(row);
      if (found.length === wanted) break;
    }
  } else {
    const sorted = (await Array.fromAsync(passing(store, query))).toSorted(orderOf(query.sort));
    const start = pageId === undefined ? 0 : sorted.findIndex(({ id }) => id === pageId);
    if (start === -1) throw unknownPage(pageId!);
    found.push(...sorted.slice(start, start + wanted));
  }
  return { rows: found.slice(0, query.limit), nextPageId: found[query.limit]?.id ?? null };
}

export async function countConversations(store: AppConversationStore, filter: ListFilter): Promise<number> {
  if (!isCompared(filter)) return await store.count(filter);
  let number = 0;
  for await (const _row of passing(store, { ...filter, sort: "CREATED_AT" })) number += 1;
  return number;
}

/** Everything that passes the filter, in the order of creation. */
async function* passing(
  store: AppConversationStore,
  query: ListFilter & Pick<ListQuery, "sort">,
  first?: string,
  limit = chunk,
): AsyncGenerator<AppConversationRow> {
  const sort = query.sort === "CREATED_AT" ? query.sort : "CREATED_AT_DESC";
  const all = itemsOfPages((pageId) => store.scan({ ...query, sort, pageId, limit }), first);
  for await (const row of all) if (passes(row, query)) yield row;
}

function isCompared({ titleContains, updatedGteMicros, updatedLtMicros }: ListFilter): boolean {
  return titleContains !== undefined || updatedGteMicros !== undefined || updatedLtMicros !== undefined;
}

function passes({ title, updatedAtMicros }: AppConversationRow, filter: ListFilter): boolean {
  const { titleContains: text, updatedGteMicros: from, updatedLtMicros: before } = filter;
  if (text !== undefined && !(title ?? "").toLowerCase().includes(text.toLowerCase())) return false;
  if (from !== undefined && updatedAtMicros < from) return false;
  return before === undefined || updatedAtMicros < before;
}

function orderOf(sort: AppConversationSort): (left: AppConversationRow, right: AppConversationRow) => number {
  const sign = sort.endsWith("_DESC") ? -1 : 1;
  return (left, right) => {
    const byField = sort.startsWith("TITLE")
      ? compareTexts(left.title ?? "", right.title ?? "")
      : left.updatedAtMicros - right.updatedAtMicros;
    return sign * (byField === 0 ? compareTexts(left.id, right.id) : byField);
  };
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

function unknownPage(id: string): UnknownPageError {
  return new UnknownPageError(`There is no conversation ${id} to start the page at`);
}
