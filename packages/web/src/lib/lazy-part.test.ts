import { expect, test } from "vitest";
import { loadWithRetry } from "./lazy-part.ts";

test("U15: a part that cannot be loaded while the server is unavailable comes when it is back", async () => {
  const waits: number[] = [];
  let tries = 0;
  const part = await loadWithRetry(
    async () => {
      tries += 1;
      if (tries < 8) throw new TypeError("Failed to fetch dynamically imported module");
      return "the part";
    },
    async (ms) => void waits.push(ms),
  );
  expect(part).toBe("the part");
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000]);
});

test("J30: a part that is gone is tried on in peace, and breaks nothing", async () => {
  const waits: number[] = [];
  const stop = Promise.withResolvers<void>();
  let tries = 0;
  void loadWithRetry(
    () => {
      tries += 1;
      return Promise.reject(new TypeError("gone"));
    },
    async (ms) => {
      waits.push(ms);
      if (tries === 14) {
        stop.resolve();
        await new Promise(() => {});
      }
    },
  );
  await stop.promise;
  expect(waits.slice(-3)).toEqual([60_000, 60_000, 60_000]);
  expect(waits.slice(0, -3).reduce((sum, ms) => sum + ms)).toBeLessThan(90_000);
});
