import { expect, test } from "vitest";
import { FileFinder } from "./find-files.ts";

type Tree = { readonly [name: string]: Tree | null };

function finderOf(tree: Tree, clock = { now: 0 }) {
  const requested: string[] = [];
  const finder = new FileFinder(
    (path) => {
      requested.push(path);
      let at: Tree | null | undefined = tree;
      for (const part of path.split("/").filter(Boolean)) at = at?.[part];
      if (!at) return Promise.reject(new Error(`Nothing is at ${path}.`));
      const entries = Object.entries(at);
      return Promise.resolve(
        entries.map(([name, below]) => ({ name, type: below === null ? "file" : "directory" }) as const),
      );
    },
    () => clock.now,
  );
  const find = (query: string) => finder.find(query);
  return { find, requested, clock };
}

const tree: Tree = {
  src: { "sum.js": null, deep: { "summary.ts": null } },
  node_modules: { sum: { "index.js": null } },
  ".git": { sum: null },
  "README.md": null,
  "two words.md": null,
};

test("without a name the folder itself, with one what is below it; what was fetched is not searched", async () => {
  const { find, requested } = finderOf(tree);
  expect(await find("")).toEqual(["src/", "node_modules/", ".git/", "README.md"]);
  expect(await find("sum")).toEqual(["src/sum.js", "src/deep/summary.ts"]);
  expect(requested).not.toContain("node_modules");
  expect(await find("node_modules/sum/")).toEqual(["node_modules/sum/index.js"]);
  expect(await find("src/deep/")).toEqual(["src/deep/summary.ts"]);
});

test("nothing is asked for outside of the folder", async () => {
  const { find, requested } = finderOf(tree);
  for (const query of ["/etc/pa", "../x", "src/../../x"]) expect(await find(query)).toEqual([]);
  expect(requested).toEqual([]);
});

test("what is known is not asked for again until it is old; a failure is not kept", async () => {
  const { find, requested, clock } = finderOf(tree);
  await find("s");
  const first = requested.length;
  await find("su");
  expect(requested).toHaveLength(first);
  clock.now = 20_000;
  await find("su");
  expect(requested.length).toBeGreaterThan(first);
  await expect(find("absent/")).rejects.toThrow("Nothing is at absent.");
  await expect(find("absent/")).rejects.toThrow("Nothing is at absent.");
  expect(requested.filter((path) => path === "absent")).toHaveLength(2);
});

test("a large tree is looked at as far as the bound", async () => {
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`d${at}`, { "f.txt": null }]));
  const { find, requested } = finderOf(wide);
  expect((await find("f")).length).toBeGreaterThan(0);
  expect(requested.length).toBeLessThanOrEqual(40);
});
