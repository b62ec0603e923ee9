import { expect, test } from "vitest";
import { withFirstPage } from "./use-refreshed.ts";

const page = (ids: string, nextPageId: string | null = null) => ({
  items: Array.from(ids, (id) => ({ id })),
  nextPageId,
});

test("a first page that is read again brings new items and drops deleted ones; further pages stay", () => {
  expect(withFirstPage(null, page("dc", "b"))).toEqual(page("dc", "b"));
  expect(withFirstPage(page("dcba", null), page("edc", "b"))).toEqual(page("edcba", null));
  expect(withFirstPage(page("dcba", null), page("db", "a"))).toEqual(page("dba", null));
  expect(withFirstPage(page("dcba", null), page("dc"))).toEqual(page("dc"));
  expect(withFirstPage(page("dc", "b"), page("fe", "d"))).toEqual(page("fedc", "b"));
  expect(withFirstPage(page("dc", "b"), page(""))).toEqual(page(""));
});
