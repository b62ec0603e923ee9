import { expect, test, vi } from "vitest";
import { World, type WorldOptions } from "../testing/interleaving/world.ts";

// Thousands of lives, each up to its end, need nothing but time.
vi.setConfig({ testTimeout: 240_000 });

/** Ways to the situations where orders matter most; each is followed by every sequence of `depth` steps. */
const situations: readonly {
  readonly name: string;
  readonly policy: WorldOptions["policy"];
  readonly way: string;
}[] = [
  { name: "the model is asked", policy: "NeverConfirm", way: "send open0:opened append0:durable" },
  {
    name: "an answer is being stored",
    policy: "AlwaysConfirm",
    way: "send open0:opened append0:durable model0:two",
  },
  {
    name: "a tool runs",
    policy: "NeverConfirm",
    way: "send open0:opened append0:durable model0:two append0:durable",
  },
  {
    name: "two tools run",
    policy: "NeverConfirm",
    way: "send open0:opened append0:durable model0:both append0:durable",
  },
  {
    name: "calls wait for the user",
    policy: "AlwaysConfirm",
    way: "send open0:opened append0:durable model0:two append0:durable append0:durable",
  },
  {
    name: "a message follows calls that were paused unseen",
    policy: "AlwaysConfirm",
    way: "send open0:opened append0:durable model0:two pause append0:durable append0:durable send append0:durable",
  },
  {
    name: "a paused tool runs on",
    policy: "NeverConfirm",
    way: "send open0:opened append0:durable model0:two append0:durable pause append1:durable",
  },
];
const depth = 3;
/** Of the last steps every fifteenth one; each with `CONVOKE_EVERY_CASE=1`. */
const nth = process.env["CONVOKE_EVERY_CASE"] === "1" ? 1 : 15;

test.for(situations)("P2, P6, P26, P43, W2: three steps after which $name", async ({ policy, way }) => {
  const open = async (steps: readonly string[]): Promise<World> => {
    const world = await World.open({ policy });
    for (const step of [...way.split(" "), ...steps]) await world.take(step);
    return world;
  };
  let lastSteps = 0;
  const exhaust = async (steps: readonly string[]): Promise<number> => {
    if (steps.length === depth && lastSteps++ % nth !== 0) return 0;
    const world = await open(steps);
    const next = [...world.endings, ...world.inputs];
    expect(await world.conclude()).toEqual([]);
    if (steps.length === depth) return 1;
    let count = 1;
    for (const step of next) count += await exhaust([...steps, step]);
    return count;
  };
  expect(await exhaust([])).toBeGreaterThan(1000 / nth);
});
