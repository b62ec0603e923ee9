import { EventEmitter } from "node:events";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { goTo } from "./navigate.ts";

const address = new URL("http://nowhere.invalid/");

/** A page whose navigations end as the test says, one after the other. */
function createPage(...failures: readonly string[]): {
  readonly page: Page;
  readonly emitter: EventEmitter;
  readonly visits: string[];
  readonly frame: { at: string };
} {
  const emitter = new EventEmitter();
  const frame = { at: "about:blank", url: () => frame.at };
  const visits: string[] = [];
  const page = Object.assign(emitter, {
    mainFrame: () => frame,
    goto: async (url: string) => {
      visits.push(url);
      const failure = failures[visits.length - 1];
      if (failure !== undefined) throw new Error(`page.goto: ${failure}`);
      return null;
    },
  });
  return { page: page as unknown as Page, emitter, visits, frame };
}

test("a failure is reported once the browser's error page about it has loaded, not at that of an earlier one", async () => {
  const { page, emitter, frame } = createPage("net::ERR_NAME_NOT_RESOLVED at http://nowhere.invalid/");
  frame.at = "chrome-error://chromewebdata/";
  let hasFailed = false;
  const settled = goTo(page, address, 1_000).catch(() => void (hasFailed = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasFailed).toBe(false);
  emitter.emit("framenavigated", frame);
  await settled;
  expect(hasFailed).toBe(true);
  expect(emitter.listenerCount("framenavigated")).toBe(0);
});

test("an error page about an earlier failure does not interrupt a navigation", async () => {
  const interrupted = (by: string): string =>
    `Navigation to "${address.href}" is interrupted by another navigation to "${by}"`;
  const { page, visits } = createPage(
    interrupted("chrome-error://chromewebdata/"),
    interrupted(address.href),
  );
  expect(await goTo(page, address, 1_000)).toBeNull();
  expect(visits).toHaveLength(3);
  const other = createPage(interrupted("http://elsewhere.invalid/"));
  await expect(goTo(other.page, address, 1_000)).rejects.toThrow("elsewhere");
});
