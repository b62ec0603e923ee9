import { UnknownPageError } from "../journal/journal.ts";
import type { SandboxPageQuery } from "./sandbox-service.ts";

/** One page of a whole list; throws `UnknownPageError` for a page that begins with none of its items. `what` names an item. */
export function pageFrom<Item>(
  all: readonly Item[],
  { limit, pageId }: SandboxPageQuery,
  idOf: (item: Item) => string,
  what: string,
): { readonly items: readonly Item[]; readonly nextPageId: string | null } {
  const start = pageId === undefined ? 0 : all.findIndex((item) => idOf(item) === pageId);
  if (start === -1) throw new UnknownPageError(`There is no ${what} ${pageId} to start the page at`);
  const next = all[start + limit];
  return { items: all.slice(start, start + limit), nextPageId: next === undefined ? null : idOf(next) };
}
