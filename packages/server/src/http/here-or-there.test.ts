import { expect, test } from "vitest";
import { OwnedElsewhere } from "../engine/refusals.ts";
import { hereOrThere } from "./here-or-there.ts";

const never = new AbortController();

test("the found owner is asked, and dropped from the cache when it is no longer the owner", async () => {
  const calls: string[] = [];
  const known = ["gone", "there"];
  const here = (): string => {
    throw new OwnedElsewhere(known[0]!, () => calls.push(`forget ${known.shift()}`));
  };
  const there = async (nodeId: string): Promise<string | null> => {
    calls.push(`ask ${nodeId}`);
    return nodeId === "gone" ? null : "done";
  };
  expect(await hereOrThere(here, there, 10_000, never)).toBe("done");
  expect(calls).toEqual(["ask gone", "forget gone", "ask there"]);
});

test("a failure here is returned unchanged, and no other node is asked", async () => {
  const failure = new Error("It is broken.");
  const asked: string[] = [];
  const there = async (nodeId: string): Promise<null> => {
    asked.push(nodeId);
    return null;
  };
  await expect(hereOrThere(() => Promise.reject(failure), there, 10_000, never)).rejects.toBe(failure);
  expect(asked).toEqual([]);
});
