import { expect, test } from "vitest";
import { findStorelessTests } from "./storeless-tests.ts";

test("a suite has no store where none of its imports leads to one, through test doubles either", () => {
  const server = "packages/server/src";
  const withStore = [`${server}/webhooks/webhooks.test.ts`, `${server}/engine/run/many-calls.test.ts`];
  const without = [`${server}/engine/scheduler.test.ts`, `${server}/reading/transcript.test.ts`];
  expect(findStorelessTests([...withStore, ...without]).toSorted()).toEqual(without);
});
