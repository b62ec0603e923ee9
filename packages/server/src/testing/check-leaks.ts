import { watchLeaks, type LeakCheck } from "@convoke/tool-host/testing";
import { afterEach, beforeEach } from "vitest";
import { endIdleWriters } from "./pooled-writers.ts";

/** Fails every test of the file that leaves a child process or an open file behind (P14). */
export function checkLeaksAfterEach(): void {
  let leaks: LeakCheck | undefined;
  beforeEach(async () => {
    leaks = await watchServerLeaks();
  });
  afterEach(async () => {
    await leaks?.assertNone();
  });
}

/** As {@link watchLeaks}, without the threads that wait for the next server of a test. */
export async function watchServerLeaks(): Promise<LeakCheck> {
  await endIdleWriters();
  const leaks = watchLeaks();
  return {
    assertNone: async (limitMs) => {
      await endIdleWriters();
      await leaks.assertNone(limitMs);
    },
  };
}
