import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readNavigation } from "./navigation.ts";

const docs = path.join(import.meta.dirname, "../../docs");
const targets = readNavigation(readFileSync(path.join(docs, "README.md"), "utf8")).flatMap(({ pages }) =>
  pages.map(({ target }) => target),
);

test("the lists of the front page are the navigation", () => {
  const page =
    "# Title\n\n- [No](no.md)\n\n## Learn\n\n- [One](guides/one.md#part): text with [two](two.md).\n\n## Empty\n";
  expect(readNavigation(page)).toEqual([
    { title: "Learn", pages: [{ title: "One", target: "guides/one.md" }] },
  ]);
});

test("docs/README.md lists pages that exist, each once", () => {
  expect(targets.filter((target) => !existsSync(path.join(docs, target)))).toEqual([]);
  expect(targets).toEqual([...new Set(targets)]);
});
