/** One page of a longer list; null as the next page: it is the last one. */
type Page<T> = { readonly items: readonly T[]; readonly nextPageId: string | null };

/** The items of all pages in order. A page is read when its first item is asked for, so a caller that stops early reads no more. */
export async function* itemsOfPages<T>(
  read: (pageId?: string) => Promise<Page<T>>,
  first?: string,
): AsyncGenerator<T> {
  for (let page = await read(first); ; page = await read(page.nextPageId)) {
    yield* page.items;
    if (page.nextPageId === null) return;
  }
}
