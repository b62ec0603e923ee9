/** A list that is loaded page by page. */
export type Paged<Item> = { readonly items: readonly Item[]; readonly nextPageId: string | null };

/**
 * The list with the page that was requested as `pageId`. Unchanged if that page is in it, because it was requested twice, or if the list
 * was reloaded since and continues elsewhere.
 */
export function withPage<Item>(
  list: Paged<Item> | null,
  pageId: string,
  page: Paged<Item>,
): Paged<Item> | null {
  if (list?.nextPageId !== pageId) return list;
  return { items: [...list.items, ...page.items], nextPageId: page.nextPageId };
}
