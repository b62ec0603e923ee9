import { expect, test } from "vitest";
import { Doorbell } from "../doorbell.ts";
import { CommitWatch } from "./commit-watch.ts";

test("P7: a log whose end cannot be read keeps nobody else from being rung, and is rung for when it can be", async () => {
  const doorbell = new Doorbell();
  const rung: string[] = [];
  const ends = new Map([
    ["damaged", 1],
    ["whole", 1],
  ]);
  let version = 1;
  let isReadable = false;
  let misses = 0;
  using watch = new CommitWatch({
    doorbell,
    readVersion: async () => version,
    readLastSeq: (id) => {
      if (id === "whole" || isReadable) return ends.get(id)!;
      misses += 1;
      throw new Error("The disk does not answer");
    },
    tails: { forget: () => {} },
  });
  for (const id of ends.keys()) {
    doorbell.listen(id, (lastSeq) => rung.push(`${id} ${lastSeq}`));
    watch.watch(id);
  }
  ends.set("damaged", 2).set("whole", 2);
  version += 1;
  await expect.poll(() => rung, { timeout: 60_000 }).toEqual(["whole 2"]);
  const before = misses;
  await expect.poll(() => misses, { timeout: 60_000 }).toBeGreaterThan(before);
  isReadable = true;
  await expect.poll(() => rung, { timeout: 60_000 }).toEqual(["whole 2", "damaged 2"]);
});
