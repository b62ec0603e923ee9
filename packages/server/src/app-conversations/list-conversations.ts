import type { Journal } from "../journal/journal.ts";
import { UnknownPageError } from "../journal/journal.ts";
import type {
  AppConversationFilter,
  AppConversationPlace,
  AppConversationRow,
  AppConversationStore,
} from "./app-conversation-store.ts";

export type AppConversationSort =
  | "CREATED_AT"
  | "CREATED_AT_DESC"
  | "UPDATED_AT"
  | "UPDATED_AT_DESC"
  | "TITLE"
  | "TITLE_DESC";

/** The last three are answered by the log's own rows. */
export type ListFilter = AppConversationFilter & {
  /** In any case. */
  readonly titleContains?: string;
  readonly updatedGteMicros?: number;
  readonly updatedLtMicros?: number;
};

export type ListQuery = ListFilter & {
  readonly sort: AppConversationSort;
  readonly limit: number;
  /** Id of the first conversation of this page. */
  readonly pageId?: string;
};

export type ListDeps = {
  readonly store: AppConversationStore;
  readonly journal: Pick<Journal, "getConversations">;
};

type Entry = { readonly row: AppConversationRow; readonly title: string; readonly updatedAtMicros: number };

/** How many rows are looked at in one go when the log's rows decide. */
const chunk = 250;

/**
 * One page of ids. In the order of creation it costs what it shows, plus what the title and update filters leave out; the
 * other orders look at all of the owner's conversations.
 */
export async function listConversations(
  deps: ListDeps,
  query: ListQuery,
): Promise<{ rows: AppConversationRow[]; nextPageId: string | null }> {
  const first = await firstOf(deps, query);
  const wanted = query.limit + 1;
  const found: AppConversationRow[] = [];
  if (query.sort === "CREATED_AT" || query.sort === "CREATED_AT_DESC") {
    for await (const { row } of entries(deps, query, first)) {
      found.push(row);
      if (found.length === wanted) break;
    }
  } else {
    const sorted = (await Array.fromAsync(entries(deps, query, null))).toSorted(orderOf(query.sort));
    const start = first === null ? 0 : sorted.findIndex(({ row }) => row.id === first.id);
    if (start === -1) throw unknownPage(query.pageId!);
    found.push(...sorted.slice(start, start + wanted).map(({ row }) => row));
  }
  return { rows: found.slice(0, query.limit), nextPageId: found[query.limit]?.id ?? null };
}

export async function countConversations(deps: ListDeps, filter: ListFilter): Promise<number> {
  if (!needsLogs(filter)) return await deps.store.count(filter);
  let number = 0;
  for await (const _entry of entries(deps, { ...filter, sort: "CREATED_AT" }, null)) number += 1;
  return number;
}

async function firstOf({ store }: ListDeps, query: ListQuery): Promise<AppConversationPlace | null> {
  if (query.pageId === undefined) return null;
  const row = await store.get(query.ownerId, query.pageId);
  if (row === null) throw unknownPage(query.pageId);
  return row;
}

/** Everything that passes the filter, in the order of creation. */
async function* entries(
  { store, journal }: ListDeps,
  query: ListFilter & Pick<ListQuery, "sort">,
  first: AppConversationPlace | null,
): AsyncGenerator<Entry> {
  const isNewestFirst = query.sort !== "CREATED_AT";
  const isJoined = needsLogs(query) || !query.sort.startsWith("CREATED_AT");
  let from = first;
  for (;;) {
    const rows = await store.scan({ ...query, isNewestFirst, from, limit: chunk + 1 });
    const now = rows.slice(0, chunk);
    const logs = isJoined ? await journal.getConversations(now.map(({ id }) => id)) : [];
    for (const [index, row] of now.entries()) {
      const log = logs[index];
      if (isJoined && !log) continue;
      const entry = { row, title: log?.title ?? "", updatedAtMicros: log?.updatedAtMicros ?? 0 };
      if (passes(entry, query)) yield entry;
    }
    from = rows[chunk] ?? null;
    if (from === null) return;
  }
}

function needsLogs({ titleContains, updatedGteMicros, updatedLtMicros }: ListFilter): boolean {
  return titleContains !== undefined || updatedGteMicros !== undefined || updatedLtMicros !== undefined;
}

function passes({ title, updatedAtMicros }: Entry, filter: ListFilter): boolean {
  const { titleContains: text, updatedGteMicros: from, updatedLtMicros: before } = filter;
  if (text !== undefined && !title.toLowerCase().includes(text.toLowerCase())) return false;
  if (from !== undefined && updatedAtMicros < from) return false;
  return before === undefined || updatedAtMicros < before;
}

function orderOf(sort: AppConversationSort): (left: Entry, right: Entry) => number {
  const sign = sort.endsWith("_DESC") ? -1 : 1;
  return (left, right) => {
    const byField = sort.startsWith("TITLE")
      ? compareTexts(left.title, right.title)
      : left.updatedAtMicros - right.updatedAtMicros;
    return sign * (byField === 0 ? compareTexts(left.row.id, right.row.id) : byField);
  };
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

function unknownPage(id: string): UnknownPageError {
  return new UnknownPageError(`There is no conversation ${id} to start the page at`);
}
