import { expect, test } from "vitest";
import { compileForeignSchema } from "./foreign-schema.ts";

test("security 2: a schema whose check would never end is checked without what makes it endless", () => {
  const branches = Array.from({ length: 40 }, () => ({ properties: { a: { $dynamicRef: "#n" } } }));
  const endless = compileForeignSchema({ $dynamicAnchor: "n", type: "object", anyOf: branches });
  let data: unknown = 1;
  for (let level = 0; level < 30; level += 1) data = { a: data };
  expect(endless(data)).toEqual([]);
  const unique = compileForeignSchema({ type: "array", uniqueItems: true });
  expect(unique(Array.from({ length: 200_000 }, (_, at) => at))).toEqual([]);
  expect(unique(1)).toHaveLength(1);
});
