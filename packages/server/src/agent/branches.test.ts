import fc from "fast-check";
import { expect, test } from "vitest";
import { commonRanges, isOnPath, pathTo, type Navigation } from "./branches.ts";

/** Null: an event is added; otherwise somebody goes to the event that is so far along the log, in thousandths. */
const steps = fc.array(fc.option(fc.integer({ min: 0, max: 1000 }), { freq: 4 }), { maxLength: 60 });

test("the path to an event is the chain of its parents, whatever was navigated before and after", () => {
  fc.assert(
    fc.property(steps, (script) => {
      const navigations: Navigation[] = [];
      const chains: (readonly number[])[] = [[]];
      for (const [index, to] of script.entries()) {
        const seq = index + 1;
        const target = to === null ? 0 : Math.floor((to * index) / 1000);
        if (to !== null) navigations.push([seq, target]);
        chains.push(to === null ? [...chains[index]!, seq] : chains[target]!);
      }
      for (const [seq, chain] of chains.entries()) {
        const path = pathTo(navigations, seq);
        expect(
          chains
            .keys()
            .filter((other) => isOnPath(path, other))
            .toArray(),
        ).toEqual(chain);
      }
    }),
  );
});

test("ranges have in common what is in both", () => {
  const left = [
    [1, 4],
    [8, 12],
  ] as const;
  expect(
    commonRanges(left, [
      [3, 9],
      [11, 20],
    ]),
  ).toEqual([
    [3, 4],
    [8, 9],
    [11, 12],
  ]);
  expect(commonRanges(left, [[5, 7]])).toEqual([]);
});
