import { expect, test } from "vitest";
import { findLateCycles, type ImportEdge } from "./late-cycles.ts";

const edge = (from: string, to: string, isLate = false): ImportEdge => ({ from, to, line: 1, isLate });

test("a late import whose target leads back is a cycle, with the shortest way", () => {
  const late = edge("open.ts", "postgres.ts", true);
  const edges = [
    late,
    edge("postgres.ts", "long.ts"),
    edge("long.ts", "longer.ts"),
    edge("longer.ts", "open.ts"),
    edge("postgres.ts", "types.ts"),
    edge("types.ts", "open.ts"),
  ];
  expect(findLateCycles(edges)).toEqual([
    { edge: late, path: ["open.ts", "postgres.ts", "types.ts", "open.ts"] },
  ]);
});

test("two late imports of each other are two cycles, and a file that loads itself is one", () => {
  const edges = [edge("a.ts", "b.ts", true), edge("b.ts", "a.ts", true), edge("c.ts", "c.ts", true)];
  expect(findLateCycles(edges).map(({ path }) => path)).toEqual([
    ["a.ts", "b.ts", "a.ts"],
    ["b.ts", "a.ts", "b.ts"],
    ["c.ts", "c.ts"],
  ]);
});

test("a late import that leads nowhere back is none, nor is a cycle without one", () => {
  expect(findLateCycles([edge("a.ts", "b.ts", true), edge("b.ts", "c.ts"), edge("c.ts", "b.ts")])).toEqual(
    [],
  );
});
