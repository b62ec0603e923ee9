import type { Page } from "playwright-core";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { coldPage, openAt, painted, type PageClient } from "./page-client.ts";

const rounds = 9;

type Place = { readonly id: string; readonly words: string };

/** U7: back to a long, scrolled-up conversation from another one, through the list. */
export async function measureSwitch(client: PageClient, long: Place, other: Place): Promise<BenchResult[]> {
  const page = await coldPage(client);
  await openAt(page, client.addressOf(long.id), long.words);
  await page.locator(`nav a[href$="${other.id}"]`).waitFor();
  const feed = page.getByRole("feed");
  await feed.hover();
  await page.mouse.wheel(0, -1_500);
  await page.waitForLoadState("networkidle");
  const timesMs: number[] = [];
  let moved = 0;
  for (let round = 0; round < rounds; round += 1) {
    const before = await middleOf(page);
    await switchTo(page, other.id);
    timesMs.push(await switchTo(page, long.id));
    await painted(page);
    moved = Math.max(moved, before === (await middleOf(page)) ? 0 : 1);
  }
  await page.context().close();
  return [
    {
      id: "U7",
      name: "back to a conversation of 100,000 events: from the click to painted: median",
      value: percentile(timesMs, 0.5),
      unit: "ms",
    },
    {
      id: "U7.place",
      name: "the same: another row in the middle of the screen (1) or the same (0)",
      value: moved,
      unit: "",
    },
  ];
}

/** The name of the row in the middle of the screen. */
function middleOf(page: Page): Promise<string> {
  return page.getByRole("feed").evaluate((feed) => {
    const { top, height } = feed.getBoundingClientRect();
    const rows = [...feed.querySelectorAll("article")];
    const row = rows.find((each) => each.getBoundingClientRect().bottom > top + height / 2);
    return row?.textContent ?? "";
  });
}

/** Milliseconds from the click until the rows of the conversation are painted. */
function switchTo(page: Page, id: string): Promise<number> {
  return page.evaluate(async (wanted) => {
    const frame = () => new Promise(requestAnimationFrame);
    const before = document.querySelector("[role=feed]");
    const startMs = performance.now();
    document.querySelector<HTMLElement>(`nav a[href$="${wanted}"]`)?.click();
    for (;;) {
      const feed = document.querySelector("[role=feed]");
      if (feed !== before && (feed?.querySelectorAll("article").length ?? 0) > 1) break;
      await frame();
    }
    await frame();
    return performance.now() - startMs;
  }, id);
}
