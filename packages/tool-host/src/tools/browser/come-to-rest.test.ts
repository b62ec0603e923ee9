import { EventEmitter } from "node:events";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test, vi } from "vitest";
import { arrive, quietMs } from "./come-to-rest.ts";

/** A page that is still when the test says so; time passes when the test says so. */
function openPage() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const emitter = new EventEmitter();
  const looks: PromiseWithResolvers<void>[] = [];
  const page = Object.assign(emitter, {
    evaluate: () => {
      const look = Promise.withResolvers<void>();
      looks.push(look);
      return look.promise;
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
    /** Resolves when the page is looked at for this time, from 1. */
    look: async (number: number) => {
      while (looks.length < number) await vi.advanceTimersByTimeAsync(0);
      return looks[number - 1]!;
    },
    looks,
    isThere: async () => {
      await vi.advanceTimersByTimeAsync(0);
      return isThere;
    },
  };
}

test("a page that is at rest is there at once", async () => {
  const { arriving, look, emitter } = openPage();
  (await look(1)).resolve();
  expect(await arriving).toBe("arrived");
  for (const event of ["request", "requestfinished", "requestfailed"])
    expect(emitter.listenerCount(event)).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("what a page has asked for is waited for, and what it does with the answer", async () => {
  const { arriving, look, looks, emitter, isThere } = openPage();
  const [script, data] = [{}, {}];
  const first = await look(1);
  emitter.emit("request", script);
  emitter.emit("request", data);
  first.resolve();
  expect(await isThere()).toBe(false);
  emitter.emit("requestfinished", script);
  expect([await isThere(), looks.length]).toEqual([false, 1]);
  emitter.emit("requestfailed", data);
  const second = await look(2);
  expect(await isThere()).toBe(false);
  second.resolve();
  expect(await arriving).toBe("arrived");
});

test.each([
  ["never comes to rest", () => {}],
  ["goes on to another one", ({ reject }: PromiseWithResolvers<void>) => reject(new Error("destroyed"))],
])("a page that %s is there after a quarter of a second", async (_, end) => {
  const { arriving, look, isThere } = openPage();
  end(await look(1));
  await vi.advanceTimersByTimeAsync(quietMs - 1);
  expect(await isThere()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await arriving).toBe("arrived");
});
