type PageQuery = { readonly limit: number; readonly page_id?: string };
type Page<Item> = { readonly items: readonly Item[]; readonly next_page_id: string | null };

const pageSize = 100;

/** The first `max` items of a list that the server gives in pages. */
export async function collectPages<Item>(
  max: number,
  load: (query: PageQuery) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let pageId: string | null = null;
  while (items.length < max) {
    const limit = Math.min(pageSize, max - items.length);
    const page: Page<Item> = await load(pageId === null ? { limit } : { limit, page_id: pageId });
    items.push(...page.items);
    pageId = page.next_page_id;
    if (pageId === null) break;
  }
  return items;
}
