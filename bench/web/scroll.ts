import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import type { BenchResult } from "../bench-result.ts";
import { privateMegabytes, residentMegabytes } from "../node/resident-memory.ts";
import { coldPage, openAt, painted, type PageClient } from "./page-client.ts";
import { traced } from "./page-trace.ts";

const steps = 150;
const stepPixels = 300;
const wantedEvents = 10_000;
const readLimitMs = 180_000;

/** U10: scrolling up through rows that were never shown; U8: memory of the page after 10,000 events were read. */
export async function measureScroll(
  client: PageClient,
  { id, words }: { readonly id: string; readonly words: string },
): Promise<BenchResult[]> {
  const page = await coldPage(client);
  const read = countEvents(page);
  await openAt(page, client.addressOf(id), words);
  await page.getByRole("feed").hover();
  const { cpuMs, longestTaskMs, result } = await traced(client.browser, () => scroll(page));
  const untraced = (await scroll(page)).toSorted((a, b) => a - b);
  await readOn(page, read);
  await painted(page);
  const session = await page.context().newCDPSession(page);
  const heap = await heapMegabytes(session);
  const renderer = await rendererOf(client, page);
  const [own, resident] = [privateMegabytes(renderer), residentMegabytes(renderer)];
  const events = read();
  await page.context().close();
  return [
    { id: "U10", name: "scrolling: processor time of one frame", value: cpuMs / result.length, unit: "ms" },
    { id: "U10.task", name: "the same: longest task, processor time", value: longestTaskMs, unit: "ms" },
    {
      id: "U10.median",
      name: "the same, untraced: from one frame to the next: median",
      value: untraced[untraced.length >> 1] ?? NaN,
      unit: "ms",
    },
    { id: "U10.worst", name: "the same: the longest", value: untraced.at(-1) ?? NaN, unit: "ms" },
    { id: "U8", name: "heap of the page after 10,000 events were read", value: heap, unit: "MB" },
    {
      id: "U8.tab",
      name: "the same: memory of the tab's process that is its own",
      value: own,
      unit: "MB",
    },
    {
      id: "U8.resident",
      name: "the same: all of it, with what the browser's processes share",
      value: resident,
      unit: "MB",
    },
    { id: "U8.events", name: "the same: events read", value: events, unit: "" },
  ];
}

type Counted = { gaps: number[]; isCounting: boolean };

/** Turns the wheel once per frame; milliseconds from each frame to the next. */
async function scroll(page: Page): Promise<readonly number[]> {
  await page.evaluate(() => {
    const counted = window as unknown as Counted;
    Object.assign(counted, { gaps: [], isCounting: true });
    let last = performance.now();
    const count = (): void => {
      const now = performance.now();
      counted.gaps.push(now - last);
      last = now;
      if (counted.isCounting) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  for (let step = 0; step < steps; step += 1) await page.mouse.wheel(0, -stepPixels);
  await painted(page);
  return await page.evaluate(() => {
    const counted = window as unknown as Counted;
    counted.isCounting = false;
    return counted.gaps;
  });
}

/** Scrolls to the oldest row again and again, until this many events have arrived. */
async function readOn(page: Page, read: () => number): Promise<void> {
  const limit = performance.now() + readLimitMs;
  while (read() < wantedEvents) {
    if (performance.now() > limit) throw new Error(`Only ${read()} events were read in three minutes.`);
    await page.getByRole("feed").evaluate((feed) => {
      feed.scrollTop = 0;
    });
    await sleep(20);
  }
}

/** Number of events that the page has received so far. */
function countEvents(page: Page): () => number {
  let events = 0;
  page.on("response", (response) => {
    if (!response.url().includes("/events/search")) return;
    void response
      .json()
      .then(({ items }: { items: readonly unknown[] }) => (events += items.length))
      .catch(() => {}); // The page aborted it.
  });
  return () => events;
}

async function heapMegabytes(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  return usedSize / 1_000_000;
}

/** The process of the page: the renderer with the largest memory. */
async function rendererOf({ browser }: PageClient, page: Page): Promise<number> {
  await painted(page);
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = (await session.send("SystemInfo.getProcessInfo")) as {
    processInfo: readonly { readonly type: string; readonly id: number }[];
  };
  await session.detach();
  const renderers = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
  const [largest] = renderers.toSorted((a, b) => residentMegabytes(b) - residentMegabytes(a));
  if (largest === undefined) throw new Error("The browser has no page.");
  return largest;
}
