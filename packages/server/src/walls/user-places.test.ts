import { expect, test } from "vitest";
import type { ReachedQuota } from "../settings/quota-reached.ts";
import { UserPlaces, type OwnedHolder } from "./user-places.ts";

/** Counts as a store does. */
function openPlaces(max: number, waitMs: number) {
  const running: string[] = [];
  const ended: string[] = [];
  const places = new UserPlaces({
    take: async (userId) => {
      const used = running.filter((one) => one === userId).length;
      if (used >= max) return { name: "running_walls", used, max } satisfies ReachedQuota;
      running.push(userId);
      return { release: () => void running.splice(running.indexOf(userId), 1) };
    },
    waitMs,
  });
  const holder = (name: string, changes: Partial<OwnedHolder> = {}): OwnedHolder => {
    const made = { ownerId: "ada", isBusy: false, isOpen: false, usedAtMs: 0, ...changes };
    return { ...made, yield: async () => void ended.push(name) };
  };
  return { places, ended, holder };
}

test("of a user's walls, the one that was not used for longest ends for another one; others keep theirs", async () => {
  const { places, ended, holder } = openPlaces(2, 1_000);
  await places.take(holder("bob's", { ownerId: "bob" }));
  await places.take(holder("newer", { usedAtMs: 2 }));
  await places.take(holder("older", { usedAtMs: 1 }));
  await places.take(holder("third", { usedAtMs: 3 }));
  expect(ended).toEqual(["older"]);
});

test("where all of a user's walls stay busy, the next is refused with the quota", async () => {
  const { places, ended, holder } = openPlaces(1, 1);
  const first = holder("first", { isBusy: true });
  await places.take(first);
  await expect(places.take(holder("second"))).rejects.toMatchObject({
    quota: { name: "running_walls", used: 1, max: 1 },
    message: expect.stringContaining("1 walls run, and your policy allows 1") as unknown,
  });
  await places.take(holder("bob's", { ownerId: "bob" }));
  places.release(first);
  await places.take(holder("third"));
  expect(ended).toEqual([]);
});

test("a wall that waits starts when another one of its user has ended", async () => {
  const { places, holder } = openPlaces(1, 60_000);
  const first = holder("first", { isBusy: true });
  await places.take(first);
  const second = places.take(holder("second"));
  places.release(first);
  await second;
});
