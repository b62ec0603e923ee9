import { expect, test } from "vitest";
import { WallPlaces, type PlaceHolder } from "./wall-places.ts";

function holder(name: string, ended: string[], changes: Partial<PlaceHolder> = {}) {
  return {
    isBusy: false,
    isOpen: false,
    usedAtMs: 0,
    yield: async () => void ended.push(name),
    ...changes,
  };
}

test("the wall that was not used for longest ends for another one, those without a session first", async () => {
  const ended: string[] = [];
  const places = new WallPlaces({ max: 4, waitMs: 1_000 });
  await places.take(holder("busy", ended, { isBusy: true, usedAtMs: 1 }));
  await places.take(holder("open", ended, { isOpen: true, usedAtMs: 2 }));
  await places.take(holder("newer", ended, { usedAtMs: 4 }));
  await places.take(holder("older", ended, { usedAtMs: 3 }));
  for (const name of ["a", "b", "c"])
    await places.take(holder(name, ended, { isBusy: true, usedAtMs: performance.now() }));
  expect(ended).toEqual(["older", "newer", "open"]);
});

test("where all are busy the next waits until one is not, in order", async () => {
  const ended: string[] = [];
  const places = new WallPlaces({ max: 1, waitMs: 10_000 });
  const first = { ...holder("first", ended), isBusy: true };
  await places.take(first);
  const order: string[] = [];
  const second = holder("second", ended);
  const third = holder("third", ended);
  const taken = [second, third].map(async (one, index) => {
    await places.take(one);
    order.push(["second", "third"][index]!);
  });
  first.isBusy = false;
  places.changed();
  await Promise.all(taken);
  expect(order).toEqual(["second", "third"]);
  expect(ended).toEqual(["first", "second"]);
});

test("a wall that waited in vain is told so, and holds nobody up afterwards", async () => {
  const ended: string[] = [];
  const places = new WallPlaces({ max: 1, waitMs: 1 });
  const first = holder("first", ended, { isBusy: true });
  await places.take(first);
  await expect(places.take(holder("second", ended))).rejects.toThrow(
    "All 1 walls that this server may run at one time are busy (CONVOKE_MAX_WALLS).",
  );
  places.release(first);
  await places.take(holder("third", ended));
  expect(ended).toEqual([]);
});

test("a wall that has its place does not need another one", async () => {
  const places = new WallPlaces({ max: 1, waitMs: 1 });
  const first = holder("first", [], { isBusy: true });
  await places.take(first);
  await places.take(first);
  await expect(places.take(holder("second", []))).rejects.toThrow("busy");
});
