import type { RouteReply, RouteRequest } from "../../http/mount.ts";
import { storedId } from "../../lib/uuid7.ts";
import { toHex } from "./app-conversation-view.ts";

type PageQuery = { page_id?: string | null; limit?: number };

/** Which page of a list is asked for; without a choice the first 100. */
export function readPage({ query }: RouteRequest) {
  const { page_id: pageId, limit } = query as PageQuery;
  return {
    limit: limit ?? 100,
    pageId: typeof pageId === "string" ? storedId(pageId) : undefined,
  };
}

export function pageReply<Item>(
  page: { readonly items: readonly Item[]; readonly nextPageId: string | null },
  toView: (item: Item) => unknown,
): RouteReply {
  return {
    json: {
      items: page.items.map(toView),
      next_page_id: page.nextPageId === null ? null : toHex(page.nextPageId),
    },
  };
}
