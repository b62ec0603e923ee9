import { expect, test } from "vitest";
import { loadPatiently } from "./lazy-part.ts";

test("U15: a part that cannot be loaded while the server is away comes when it is back", async () => {
  const waits: number[] = [];
  let tries = 0;
  const part = await loadPatiently(
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

test("a part that is gone for good is an error after about a minute", async () => {
  let waited = 0;
  const gone = loadPatiently(
    () => Promise.reject(new TypeError("gone")),
    async (ms) => void (waited += ms),
  );
  await expect(gone).rejects.toThrow("gone");
  expect(waited).toBeLessThan(90_000);
});
