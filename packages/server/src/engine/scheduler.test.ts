import fc from "fast-check";
import { expect, test } from "vitest";
import { World, type WorldOptions } from "../testing/interleaving/world.ts";

type Policy = WorldOptions["policy"];
/** By day a third of the cases; all with `CONVOKE_EVERY_CASE=1`. */
const nth = process.env["CONVOKE_EVERY_CASE"] === "1" ? 1 : 3;
const policies = ["NeverConfirm", "AlwaysConfirm"] as const satisfies readonly Policy[];

async function walk(policy: Policy, choices: readonly number[]): Promise<string[]> {
  const world = await World.open({ policy });
  for (const choice of choices) {
    const { endings, inputs } = world;
    // Three times out of five something in progress ends, so that the walk gets far.
    const steps = endings.length > 0 && (choice % 5 < 3 || inputs.length === 0) ? endings : inputs;
    await world.take(steps[Math.floor(choice / 5) % steps.length]!);
    if (world.violations.length > 0) break;
  }
  return await world.conclude();
}

test.for(policies)(
  "P2, P6, P26, P43, W2: no order of commands, answers, tool endings and crashes breaks a promise (%s)",
  async (policy) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 999 }), { maxLength: 40, size: "max" }), async (choices) => {
        expect(await walk(policy, choices)).toEqual([]);
      }),
      { numRuns: 300 / nth },
    );
  },
);
