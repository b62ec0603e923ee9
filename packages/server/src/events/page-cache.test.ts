import { expect, test } from "vitest";
import { PageCache, type CachedPage } from "./page-cache.ts";

const page = (length: number, etag: string | null = null): CachedPage => ({
  bytes: Buffer.alloc(length),
  etag,
});
const head = { log: 1, lastSeq: 5 };

test("P4: a full page stays cached while its log grows, any other page until then, and none is used for another log", () => {
  const pages = new PageCache();
  const [settled, newest] = [page(10, "tag"), page(10)];
  pages.keep("settled", head, settled);
  pages.keep("newest", head, newest);
  expect(pages.get("settled", head)).toMatchObject(settled);
  expect(pages.get("newest", head)).toMatchObject(newest);
  const grown = { log: 1, lastSeq: 6 };
  expect(pages.get("settled", grown)).toMatchObject(settled);
  expect(pages.get("newest", grown)).toBe(undefined);
  expect(pages.get("settled", { log: 2, lastSeq: 5 })).toBe(undefined);
  expect(pages.get("other", head)).toBe(undefined);
  pages.clear();
  expect(pages.get("settled", head)).toBe(undefined);
});

test("P46: the least recently used pages are evicted first, and a page that is large for the bound is not cached", () => {
  const pages = new PageCache(1_000);
  for (let number = 0; number < 10; number += 1) {
    pages.keep(`page ${number}`, head, page(100));
    expect(pages.get("page 0", head)).toBeDefined();
  }
  pages.keep("large", head, page(125));
  const cached = Array.from({ length: 10 }, (_, number) => number).filter(
    (number) => pages.get(`page ${number}`, head) !== undefined,
  );
  expect(cached).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(pages.get("large", head)).toBe(undefined);
});
