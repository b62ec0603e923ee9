import { expect, test } from "vitest";
import { NewestUpdates } from "./newest-updates.ts";

const picture = (data: string) => ({ type: "picture", data, width: 1, height: 1 }) as const;
const lent = (isLent: boolean) => ({ type: "lent", isLent, isYours: false }) as const;

test("a slow reader gets the newest picture and state, and all other updates in order", async () => {
  const updates = new NewestUpdates();
  updates.offer(picture("a"));
  updates.offer({ type: "state", isOpen: false, tabs: [] });
  updates.offer(lent(true));
  updates.offer(picture("b"));
  updates.offer({ type: "state", isOpen: true, tabs: [] });
  updates.offer(lent(false));
  updates.end();
  const taken = [];
  for (let next = await updates.next(); next !== null; next = await updates.next()) taken.push(next);
  expect(taken).toEqual([lent(true), picture("b"), { type: "state", isOpen: true, tabs: [] }, lent(false)]);
});

test("a reader that takes nothing at all is disconnected", async () => {
  const updates = new NewestUpdates();
  for (let count = 0; count < 1_000; count++) updates.offer(lent(true));
  let taken = 0;
  while ((await updates.next()) !== null) taken += 1;
  expect(taken).toBeLessThan(300);
});
