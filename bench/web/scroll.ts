import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import type { BenchResult } from "../bench-result.ts";
import { residentMegabytes } from "../node/resident-memory.ts";
import { coldPage, openAt, painted, type PageClient } from "./page-client.ts";
import { traced } from "./page-trace.ts";

const steps = 150;
const stepPixels = 300;
const wantedEvents = 10_000;
const readLimitMs = 180_000;

/** U10: scrolling up through rows that were never shown; U8: what the page holds after 10,000 events were read. */
export async function measureScroll(
  client: PageClient,
  { id, words }: { readonly id: string; readonly words: string },
): Promise<BenchResult[]> {
  const page = await coldPage(client);
  const read = countEvents(page);
  await openAt(page, client.addressOf(id), words);
  await page.getByRole("feed").hover();
  const { cpuMs, longestTaskMs, result: frames } = await traced(client.browser, () => scroll(page));
  await readOn(page, read);
  await painted(page);
  const session = await page.context().newCDPSession(page);
  const heap = await heapMegabytes(session);
  const tab = residentMegabytes(await rendererOf(client, page));
  const events = read();
  await page.context().close();
  return [
    { id: "U10", name: "scrolling: processor time of one frame", value: cpuMs / frames, unit: "ms" },
    { id: "U10.task", name: "the same: longest task, processor time", value: longestTaskMs, unit: "ms" },
    { id: "U8", name: "heap of the page after 10,000 events were read", value: heap, unit: "MB" },
    { id: "U8.tab", name: "the same: resident memory of the tab's process", value: tab, unit: "MB" },
    { id: "U8.events", name: "the same: events read", value: events, unit: "" },
  ];
}

/** Turns the wheel once in each frame; how many frames there were. */
async function scroll(page: Page): Promise<number> {
  await page.evaluate(() => {
    const counted = window as unknown as { frames: number };
    counted.frames = 0;
    const count = (): void => {
      counted.frames += 1;
      requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  for (let step = 0; step < steps; step += 1) await page.mouse.wheel(0, -stepPixels);
  await painted(page);
  return await page.evaluate(() => (window as unknown as { frames: number }).frames);
}

/** To the oldest row that is there, again and again, until so many events have come. */
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

/** How many events the page has been sent so far. */
function countEvents(page: Page): () => number {
  let events = 0;
  page.on("response", (response) => {
    if (!response.url().includes("/events/search")) return;
    void response
      .json()
      .then(({ items }: { items: readonly unknown[] }) => (events += items.length))
      .catch(() => {}); // Given up by the page.
  });
  return () => events;
}

async function heapMegabytes(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  return usedSize / 1_000_000;
}

/** The process of the page: of all renderers the one that holds the most. */
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
