import { defineConfig } from "vitest/config";

/** Three levels by file suffix: fast (in memory), int (pty, git, processes), e2e (the built server). */
export default defineConfig({
  test: {
    // Most tests wait for something; one worker less than there are cores would leave a small machine idle.
    maxWorkers: 2,
    // All limits are for a machine that has something else to do: when it is calm, what a test waits for takes milliseconds.
    projects: [
      {
        test: {
          name: "fast",
          setupFiles: ["test/property-seed.ts"],
          include: ["{packages,scripts,bench}/**/*.test.ts"],
          exclude: ["**/*.int.test.ts", "**/node_modules/**", "**/dist/**"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 15_000 } },
          // No module keeps state, so files can share what they import.
          isolate: false,
        },
      },
      {
        test: {
          name: "int",
          include: ["{packages,scripts,bench,test}/**/*.int.test.ts"],
          exclude: ["**/node_modules/**", "**/dist/**"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 30_000 } },
        },
      },
      {
        test: {
          name: "e2e",
          include: ["e2e/**/*.e2e.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 30_000 } },
          fileParallelism: false,
        },
      },
    ],
  },
});
