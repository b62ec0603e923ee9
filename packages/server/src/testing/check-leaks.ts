import { watchLeaks } from "@convoke/tool-host/testing";
import { afterEach, beforeEach } from "vitest";

/** Fails every test of the file that leaves a child process or an open file behind (P14). */
export function checkLeaksAfterEach(): void {
  const leaks = { assertNone: async (): Promise<void> => {} };
  beforeEach(() => {
    leaks.assertNone = watchLeaks().assertNone;
  });
  afterEach(async () => {
    await leaks.assertNone();
  });
}
