import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "@convoke/server/testing";
import type { Page } from "playwright-core";
import { NetworkGate } from "./network-gate.ts";
import type { WebBrowser } from "./web-browser.ts";
import { about, send } from "./web-page.ts";

export type CutOptions = {
  readonly count: number;
  readonly seed: number;
  /** Every n-th fault kills the server, or lets the device sleep; 0 for none. */
  readonly killEvery: number;
  readonly sleepEvery: number;
  readonly sleepMs: number;
};

export type CutReport = {
  /** Messages and answers in log order, and as the page shows them. */
  readonly stored: readonly string[];
  readonly shown: readonly string[];
  readonly wasReloaded: boolean;
  /** From the time when the answer was stored and the server reachable, until the page showed it. */
  readonly caughtUpMs: readonly number[];
};

/** The model's answers: a different one to each message, in chunks. */
export function cutScript(count: number): readonly object[] {
  return Array.from({ length: count }, (_, number) =>
    about(`talk ${number}.`, {
      text: `Answer ${number} begins. ${"It is told in pieces. ".repeat(12)}It ends.`,
      chunk_size: 12,
      chunk_delay_ms: 10,
    }),
  ).flat();
}

/** J13: a page writes and reads while its connection is cut, the server killed and the device put to sleep, at seeded moments. */
export async function playCuts(web: WebBrowser, options: CutOptions): Promise<CutReport> {
  await using gate = await NetworkGate.open(Number(new URL(web.url).port));
  const random = createRandom(options.seed);
  const id = await web.converse(null);
  const page = await web.logInAt(`/c/${id}`, undefined, { address: gate.url });
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await page.evaluate(() => Object.assign(window, { isTheSame: true }));
  const caughtUpMs: number[] = [];
  for (let number = 0; number < options.count; number += 1) {
    const isTurn = (every: number): boolean => every > 0 && number % every === every - 1;
    const isCutFirst = random.next() < 0.3;
    if (isCutFirst) gate.cut();
    await send(page, `Please talk ${number}.`);
    if (!isCutFirst) {
      await page.getByRole("feed").getByText(`Answer ${number} begins`).waitFor();
      await sleep(random.whole(250));
    }
    if (isTurn(options.killEvery)) await web.killAndRestart(async () => await sleep(random.whole(500)));
    else if (isTurn(options.sleepEvery)) await asleep(page, gate, options.sleepMs);
    else {
      gate.cut();
      await sleep(random.whole(500));
    }
    gate.restore();
    const restoredAtMs = performance.now();
    const storedAtMs = await untilStored(web, id, number);
    await page.locator("article").getByText(`Answer ${number} begins`).waitFor();
    await page.getByText("Writing, not saved yet").waitFor({ state: "detached" });
    caughtUpMs.push(performance.now() - Math.max(restoredAtMs, storedAtMs));
  }
  const report = {
    stored: (await storedTexts(web, id)).map(nameOf),
    shown: (await shownTexts(page)).map(nameOf).filter((name) => name !== ""),
    wasReloaded: await page.evaluate(() => !("isTheSame" in window)),
    caughtUpMs,
  };
  await page.context().close();
  return report;
}

/** Nothing runs in the page, and its connections are gone when it wakes. */
async function asleep(page: Page, gate: NetworkGate, forMs: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setWebLifecycleState", { state: "frozen" });
  gate.cut();
  await sleep(forMs);
  gate.restore();
  await session.send("Page.setWebLifecycleState", { state: "active" });
  await session.detach();
}

/** When the answer was in the log. */
async function untilStored(web: WebBrowser, id: string, number: number): Promise<number> {
  for (;;) {
    const texts = await storedTexts(web, id, 4);
    if (texts.some((text) => text.startsWith(`Answer ${number} begins`))) return performance.now();
    await sleep(20);
  }
}

type Message = { readonly llm_message: { readonly content: readonly { readonly text: string }[] } };
type MessagePage = { readonly items: readonly Message[]; readonly next_page_id: string | null };

/** In log order; only the newest `limit`, if given. */
async function storedTexts(web: WebBrowser, id: string, newest?: number): Promise<readonly string[]> {
  const texts: string[] = [];
  for (let pageId: string | null = ""; pageId !== null;) {
    const query = `kind=MessageEvent&sort_order=TIMESTAMP_DESC&limit=${newest ?? 100}`;
    const place = pageId === "" ? "" : `&page_id=${pageId}`;
    const found = (await web.call(
      "GET",
      `/api/conversations/${id}/events/search?${query}${place}`,
    )) as MessagePage;
    texts.unshift(...found.items.map((item) => item.llm_message.content[0]!.text).toReversed());
    pageId = newest === undefined ? found.next_page_id : null;
  }
  return texts;
}

/** The texts of all rows, read from first to last by scrolling through them. */
async function shownTexts(page: Page): Promise<readonly string[]> {
  return await page.getByRole("feed").evaluate(async (feed) => {
    const frame = () => new Promise(requestAnimationFrame);
    const texts = new Map<number, string>();
    feed.dispatchEvent(new WheelEvent("wheel", { deltaY: -1, bubbles: true }));
    feed.scrollTop = 0;
    for (let isAtEnd = false; !isAtEnd; feed.scrollTop += feed.clientHeight / 2) {
      await frame();
      await frame();
      for (const row of feed.querySelectorAll("article"))
        texts.set(Number(row.getAttribute("aria-posinset")), row.textContent ?? "");
      isAtEnd = feed.scrollHeight - feed.clientHeight - feed.scrollTop <= 1;
    }
    return [...texts].toSorted(([left], [right]) => left - right).map(([, text]) => text);
  });
}

/** `talk 7` or `Answer 7` of a complete row; empty for other rows. */
function nameOf(text: string): string {
  const [asked] = /talk \d+(?=\.)/.exec(text) ?? [];
  const [, answered] = /(Answer \d+) begins\..*It ends\./s.exec(text) ?? [];
  return answered ?? asked ?? "";
}
