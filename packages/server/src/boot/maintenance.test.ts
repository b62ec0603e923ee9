import { expect, test } from "vitest";
import { createRelease } from "./maintenance.ts";

test("F15: memory is given back once in each pause, never while something is in progress", async () => {
  let activeMs = Date.now();
  let isAtRest = false;
  let released = 0;
  const release = createRelease({
    directory: { takeUp: async () => {}, evictIdle: async () => 0, isAtRest: async () => isAtRest },
    lastActivityMs: () => activeMs,
    releaseMemory: () => (released += 1),
  });
  await release.check();
  // Somebody asked, a minute ago.
  activeMs = Date.now() - 60_000;
  await release.check();
  expect(released).toBe(0);
  isAtRest = true;
  await release.check();
  await release.check();
  expect(released).toBe(1);
  activeMs = Date.now();
  await release.check();
  expect(released).toBe(1);
  activeMs = Date.now() - 30_000;
  await release.check();
  expect(released).toBe(2);
  // Conversations have left memory meanwhile.
  release.isDue = true;
  await release.check();
  expect(released).toBe(3);
});

test("B2: what starting took is given back soon, unless somebody asked for something by then", async () => {
  let activeMs = Date.now();
  let isAtRest = false;
  let released = 0;
  const release = createRelease({
    directory: { takeUp: async () => {}, evictIdle: async () => 0, isAtRest: async () => isAtRest },
    lastActivityMs: () => activeMs,
    releaseMemory: () => (released += 1),
  });
  await release.checkAfterStart();
  expect(released).toBe(0);
  isAtRest = true;
  await release.checkAfterStart();
  expect(released).toBe(1);
  activeMs += 1;
  await release.checkAfterStart();
  expect(released).toBe(1);
});
