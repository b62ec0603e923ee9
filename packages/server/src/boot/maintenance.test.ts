import { expect, test } from "vitest";
import { createRelease } from "./maintenance.ts";

test("F15: memory is released once in each pause, never while something is in progress", async () => {
  let activeMs = Date.now();
  let isAtRest = false;
  let released = 0;
  const release = createRelease({
    directory: { isAtRest: async () => isAtRest },
    lastActivityMs: () => activeMs,
    releaseMemory: () => (released += 1),
  });
  await release.check();
  // The last request was a minute ago.
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
  // Conversations were unloaded meanwhile.
  release.isDue = true;
  await release.check();
  expect(released).toBe(3);
});

test("B2: the memory that starting took is released soon, unless a request came by then", async () => {
  let activeMs = Date.now();
  let isAtRest = false;
  let released = 0;
  const release = createRelease({
    directory: { isAtRest: async () => isAtRest },
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
