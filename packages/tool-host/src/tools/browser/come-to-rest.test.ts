import { EventEmitter } from "node:events";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test, vi } from "vitest";
import { arrive, quietMs } from "./come-to-rest.ts";

/** A page whose idle state and time the test controls. */
function openPage() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const emitter = new EventEmitter();
  const checks: PromiseWithResolvers<void>[] = [];
  const page = Object.assign(emitter, {
    evaluate: () => {
      const checkNumber = Promise.withResolvers<void>();
      checks.push(checkNumber);
      return checkNumber.promise;
    },
    waitForLoadState: async () => {},
  });
  let isThere = false;
  const arriving = arrive(page as unknown as Page, async () => "arrived").then((result) => {
    isThere = true;
    return result;
  });
  return {
    emitter,
    arriving,
    /** Resolves when the page is checked for the n-th time, from 1. */
    checkNumber: async (number: number) => {
      while (checks.length < number) await vi.advanceTimersByTimeAsync(0);
      return checks[number - 1]!;
    },
    checks,
    isThere: async () => {
      await vi.advanceTimersByTimeAsync(0);
      return isThere;
    },
  };
}

test("an idle page is shown at once", async () => {
  const { arriving, checkNumber, emitter } = openPage();
  (await checkNumber(1)).resolve();
  expect(await arriving).toBe("arrived");
  for (const event of ["request", "requestfinished", "requestfailed"])
    expect(emitter.listenerCount(event)).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("pending requests of a page are awaited, and what it does with the responses", async () => {
  const { arriving, checkNumber, checks, emitter, isThere } = openPage();
  const [script, data] = [{}, {}];
  const first = await checkNumber(1);
  emitter.emit("request", script);
  emitter.emit("request", data);
  first.resolve();
  expect(await isThere()).toBe(false);
  emitter.emit("requestfinished", script);
  expect([await isThere(), checks.length]).toEqual([false, 1]);
  emitter.emit("requestfailed", data);
  const second = await checkNumber(2);
  expect(await isThere()).toBe(false);
  second.resolve();
  expect(await arriving).toBe("arrived");
});

test.each([
  ["never comes to rest", () => {}],
  ["goes on to another one", ({ reject }: PromiseWithResolvers<void>) => reject(new Error("destroyed"))],
])("a page that %s is there after a quarter of a second", async (_, end) => {
  const { arriving, checkNumber, isThere } = openPage();
  end(await checkNumber(1));
  await vi.advanceTimersByTimeAsync(quietMs - 1);
  expect(await isThere()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await arriving).toBe("arrived");
});
