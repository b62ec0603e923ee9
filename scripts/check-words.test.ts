import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { countWords, findGrowth, shrink } from "./check-words.ts";

/** Counts of the banned words in these files. */
function count(files: Readonly<Record<string, string>>): Readonly<Record<string, number>> {
  using root = mkdtempDisposableSync(path.join(tmpdir(), "convoke-words-"));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.join(root.path, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root.path, file), text);
  }
  return Object.fromEntries(Object.entries(countWords(root.path)).filter(([, times]) => times > 0));
}

test.for([
  ["in names, in any form", "const askNeighbours = (neighbour) => NEIGHBOUR_COUNT;", { neighbour: 3 }],
  [
    "in comments and log lines",
    '// A neighbor left.\nlog.warn("the purse is empty");',
    { neighbour: 1, purse: 1 },
  ],
  ["in the code of a template", "log.info(`${server.heardOf} is here`);", { hear: 1 }],
  ["only the first part of a name", "const mostLooksAtOnce = 4; const atMost = 1;", { most: 1, look: 1 }],
  ["several words that are one term", "keepHouse(); // keep house", { "keep house": 2 }],
  ["no part of another word", "const outdoor = heartbeat; lookup(); LookupSecret; bookmark; almost;", {}],
  [
    "plain English in comments and texts",
    '// It tells most of what is kept, said and heard.\nf("look away");',
    {},
  ],
] as const)("counts %s", ([, source, counts]) => {
  expect(count({ "packages/a/src/file.ts": source })).toEqual(counts);
});

test("file names count as names; what others wrote and what is generated does not", () => {
  expect(
    count({
      "packages/a/src/neighbour-door.test.ts": "",
      "bench/doors/read-doors.ts": "",
      "packages/a/node_modules/b/door.ts": "",
      "packages/a/src/golden/door.ts": "",
      "packages/a/dist/door.ts": "",
    }),
  ).toEqual({ neighbour: 1, door: 2 });
});

test("more than allowed is told with the term to use; what is allowed may only shrink", () => {
  const allowed = { neighbour: 3, door: 5 };
  expect(findGrowth({ neighbour: 4, door: 5 }, allowed)).toEqual([
    '"neighbour" in names, comments and texts: 4, allowed are 3; use: node',
  ]);
  expect(findGrowth({ purse: 1 }, allowed)).toHaveLength(1);
  expect(findGrowth({ neighbour: 1 }, allowed)).toEqual([]);
  expect(shrink({ neighbour: 4, door: 2, purse: 7 }, allowed)).toEqual({ neighbour: 3, door: 2, purse: 7 });
});
