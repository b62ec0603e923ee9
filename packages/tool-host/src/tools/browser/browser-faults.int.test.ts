import { expect, onTestFinished, test, vi } from "vitest";
import { findMarkedProcesses } from "../../system/process-table.ts";
import { createBrowserBench } from "./testing/browser-bench.ts";
import { openLocalPlace } from "./testing/local-place.ts";
import { shareBrowserBench } from "./testing/share-browser-bench.ts";

// Timeouts, crashes and ends of browsers. The host has a marker, so that its processes can be counted.
const mark = `browser-faults-${process.pid}`;
const shared = shareBrowserBench(() => openLocalPlace({ environment: { BROWSER_TEST: mark } }));
const { surf } = shared;

const processes = (): number => findMarkedProcesses(`BROWSER_TEST=${mark}`).length;

test("tools 20.7.10: three timeouts start the browser again with its tabs, errors in between do not count", async () => {
  const surfer = await surf("/busy", { action_timeout_seconds: 6 });
  const hang = await surfer.indexOf("Hang");
  const first = await surfer.run("Click", { index: hang });
  const second = await surfer.run("GetContent");
  const third = await surfer.run("GetContent");
  expect([first, second, third].map(({ isError }) => isError)).toEqual([true, true, true]);
  expect(third.text).toContain("started again");
  expect(await surfer.content()).toContain("text");
  expect((await surfer.state()).tabs).toHaveLength(1);
});

test("a server that never answers is reported", async () => {
  const surfer = await surf(undefined, { action_timeout_seconds: 8 });
  expect(await surfer.open("/hang")).toMatchObject({ isError: true, text: expect.stringContaining("8 s") });
  expect(await surfer.open("/second")).toMatchObject({ isError: false });
});

test("P43: an action that is cancelled ends at once, and the next one works", async () => {
  const surfer = await surf("/second");
  const stop = new AbortController();
  const ended = surfer.outcome("Navigate", { url: `${shared.bench.pages.url}/hang` }, stop.signal);
  setTimeout(() => stop.abort(), 300);
  const startedAt = performance.now();
  expect(await ended).toMatchObject({ type: "cancelled" });
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  expect(await surfer.open("/second")).toMatchObject({ isError: false });
});

test("a crash is reported, and the next action has the tabs again", async () => {
  const surfer = await surf("/second");
  const pids = findMarkedProcesses(`BROWSER_TEST=${mark}`).map(({ pid }) => pid);
  for (const pid of pids) process.kill(pid, "SIGKILL");
  const answer = await surfer.run("GetContent");
  expect(answer.text).toMatch(/crashed/);
  expect(await surfer.content()).toContain("The second page");
});

test("a page that causes too long messages ends its browser, not the tool host", async () => {
  const own = await openLocalPlace();
  onTestFinished(() => own[Symbol.asyncDispose]());
  const surfer = await createBrowserBench(own).surf();
  for (const fate of ["with the same tabs", "without its tabs"]) {
    let answer = (await surfer.open("/shouting")).text;
    await expect.poll(async () => (answer += (await surfer.run("ListTabs")).text)).toContain(fate);
    await surfer.open("about:blank");
  }
  expect((await surfer.open("/second")).text).toContain("Title: Second");
});

test.each([[{ action_timeout_seconds: 0 }], [{ allowed_domains: "x" }], [{ init_timeout_seconds: "soon" }]])(
  "a wrong parameter %j is named",
  async (params) => {
    const surfer = await surf(undefined, params);
    const outcome = await surfer.outcome("ListTabs");
    expect(outcome).toMatchObject({ type: "error", text: expect.stringContaining(Object.keys(params)[0]!) });
  },
);

test("idle browsers are suspended and come back with tabs and logins", async () => {
  const surfer = await surf("/storage", { session_timeout_minutes: 0.005 });
  await surfer.open("/show-storage");
  expect(processes()).toBeGreaterThan(0);
  // The browser itself ends fifteen seconds after the last of its conversations was suspended.
  await vi.waitFor(() => expect(processes()).toBe(0), { timeout: 200_000, interval: 100 });
  const shown = await surfer.content();
  expect(shown).toContain("local value");
  expect(shown).toContain("crumb=1");
});

test("P14: the end of the host ends the browser, and conversations one after another leave nothing", async () => {
  const own = `${mark}-own`;
  const count = (): number => findMarkedProcesses(`BROWSER_TEST=${own}`).length;
  await using place = await openLocalPlace({ environment: { BROWSER_TEST: own } });
  const bench = createBrowserBench(place);
  let max = 0;
  for (let round = 0; round < 5; round++) {
    const surfer = await bench.surf();
    await surfer.open("/second");
    max = Math.max(max, count());
    await surfer[Symbol.asyncDispose]();
  }
  expect(max).toBeGreaterThan(0);
  await place.host[Symbol.asyncDispose]();
  await expect.poll(count).toBe(0);
});
