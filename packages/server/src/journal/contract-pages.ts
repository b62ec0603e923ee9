import { expect } from "vitest";
import { itemsOfPages } from "../lib/items-of-pages.ts";

type ReadPage<T> = Parameters<typeof itemsOfPages<T>>[0];

/** The items of all pages in order; fails when a page before the last is not full. */
export async function allItems<T>(limit: number, read: ReadPage<T>): Promise<T[]> {
  const pages = itemsOfPages(async (pageId) => {
    const page = await read(pageId);
    if (page.nextPageId !== null) expect(page.items).toHaveLength(limit);
    return page;
  });
  return await Array.fromAsync(pages);
}
