import type { Page } from "playwright-core";
import type { OpenBrowser } from "./open-browser.ts";
import type { IndexedElement } from "./element-index.ts";

/** Maximum characters of an answer for the elements and the text of a page. */
const elementsLimit = 36_000;
const textLimit = 4_000;
/** A `data:` address can contain a whole page. */
const addressLimit = 1_000;

/**
 * The state of the front page as JSON, one element per line. If not all elements fit, those nearest to the visible part are listed,
 * in document order.
 */
export async function showState(browser: OpenBrowser, page: Page): Promise<string> {
  const isPage = /^(?:https?|data|blob|about):/.test(page.url()) && page.url() !== "about:blank";
  const [title, tabs, scroll] = await Promise.all([
    titleOf(page),
    showTabs(browser),
    isPage ? scrollOf(page) : null,
  ]);
  const { elements, visibleText } = isPage
    ? await browser.elementsOf(page).read()
    : { elements: [], visibleText: "" };
  const shown = chooseNearest(elements);
  const lines = shown.map((element) => `    ${JSON.stringify(showElement(element))}`).join(",\n");
  const left = elements.length - shown.length;
  const head = JSON.stringify(
    {
      url: clip(page.url(), addressLimit),
      title: clip(title, addressLimit),
      tabs,
      ...(scroll === null ? {} : { scroll }),
    },
    null,
    2,
  ).slice(0, -2);
  const more = left === 0 ? "" : `,\n  "elements_left_out": ${left}`;
  const text = JSON.stringify(clip(visibleText.replaceAll(/[ \t]+/g, " "), textLimit));
  return `${head},\n  "interactive_elements": [${lines === "" ? "" : `\n${lines}\n  `}]${more},\n  "visible_text": ${text}\n}`;
}

/** All tabs; the front tab is marked. */
export async function showTabs({ tabs }: OpenBrowser): Promise<object[]> {
  const front = await tabs.current();
  const all = await tabs.list();
  return await Promise.all(
    all.map(async ({ id, page }) => ({
      tab_id: id,
      url: clip(page.url(), addressLimit),
      title: clip(await titleOf(page), addressLimit),
      ...(page === front ? { current: true } : {}),
    })),
  );
}

function showElement({ index, tag, text, facts }: IndexedElement): object {
  return { index, tag, text, ...facts };
}

function chooseNearest(elements: readonly IndexedElement[]): readonly IndexedElement[] {
  const sized = elements.map((element, order) => ({
    element,
    order,
    size: JSON.stringify(showElement(element)).length + 6,
  }));
  if (sized.reduce((sum, { size }) => sum + size, 0) <= elementsLimit) return elements;
  let used = 0;
  const nearest = sized.toSorted((a, b) => a.element.distance - b.element.distance || a.order - b.order);
  const fitting = nearest.filter(({ size }) => (used += size) <= elementsLimit);
  return fitting.sort((a, b) => a.order - b.order).map(({ element }) => element);
}

async function titleOf(page: Page): Promise<string> {
  // A navigating page has none for the moment.
  return await page.title().catch(() => "");
}

async function scrollOf(page: Page): Promise<object | null> {
  return await page
    .evaluate(() => ({
      pixels_above: Math.round(scrollY),
      pixels_below: Math.max(
        0,
        Math.round((document.scrollingElement?.scrollHeight ?? 0) - innerHeight - scrollY),
      ),
    }))
    .catch(() => null);
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
