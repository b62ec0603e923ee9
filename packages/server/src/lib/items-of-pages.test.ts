import { expect, test } from "vitest";
import { itemsOfPages } from "./items-of-pages.ts";

function openList() {
  const asked: (string | undefined)[] = [];
  const pages = [
    { items: [1, 2], nextPageId: "b" },
    { items: [], nextPageId: "c" },
    { items: [3], nextPageId: null },
  ];
  const read = async (pageId?: string) => {
    asked.push(pageId);
    return pages[asked.length - 1]!;
  };
  return { asked, read };
}

test("the items of all pages come in order, also behind an empty page", async () => {
  const { asked, read } = openList();
  expect(await Array.fromAsync(itemsOfPages(read))).toEqual([1, 2, 3]);
  expect(asked).toEqual([undefined, "b", "c"]);
});

test("a caller that stops early reads no further page", async () => {
  const { asked, read } = openList();
  for await (const item of itemsOfPages(read)) if (item === 2) break;
  expect(asked).toEqual([undefined]);
});
