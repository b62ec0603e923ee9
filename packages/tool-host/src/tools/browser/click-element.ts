import type { ElementHandle, Page } from "playwright-core";
import { ToolInputError } from "../../tool.ts";
import type { OpenBrowser } from "./open-browser.ts";
import { arrive } from "./come-to-rest.ts";
import { keepPdf } from "./keep-pdf.ts";
import { checkAddress, goTo, settle } from "./navigate.ts";
import type { Answer } from "./observe-browser.ts";
import { retryWhenBusy } from "./retry-when-busy.ts";

/** Clicks an element; with `wantsNewTab` its link is opened in a new tab. */
export async function clickElement(
  browser: OpenBrowser,
  page: Page,
  index: number,
  wantsNewTab: boolean,
): Promise<Answer> {
  const element = await browser.elementsOf(page).find(index);
  const { tag, type, href } = await element.evaluate((node) => ({
    tag: node.tagName.toLowerCase(),
    type: node instanceof HTMLInputElement ? node.type : "",
    href: node.closest("a")?.href ?? "",
  }));
  if (tag === "select")
    throw new ToolInputError(
      `Element ${index} is a list to choose from. Use browser_type with the text of one of its options.`,
    );
  if (tag === "input" && type === "file")
    throw new ToolInputError(
      `Element ${index} takes files. Use browser_type with the path of a file in the workspace.`,
    );
  if (wantsNewTab && typeof href === "string" && /^https?:/.test(href)) return await openApart(browser, href);
  const remark = wantsNewTab ? " It has no link, so it was clicked where it is." : "";
  const before = page.url();
  const problem = await click(element);
  if (problem !== null) return { text: `Element ${index} could not be clicked: ${problem}.`, isError: true };
  await settle(page);
  await browser.downloaded();
  if (page.url() !== before) await keepPdf(browser, page);
  const moved = !page.isClosed() && page.url() !== before ? ` The page is now ${page.url()}.` : "";
  return { text: `Clicked element ${index}.${remark}${moved}` };
}

async function openApart(browser: OpenBrowser, href: string): Promise<Answer> {
  const url = checkAddress(href, browser.params.allowedDomains);
  const page = await browser.context.newPage();
  await browser.tabs.focus(page);
  try {
    await arrive(page, () => goTo(page, url, 30_000));
  } catch (error) {
    const message = String(error).split("\n")[0]!;
    return { text: `${url.href} could not be opened in a new tab: ${message}.`, isError: true };
  }
  return { text: `Opened ${page.url()} in the new tab ${await browser.tabs.idOf(page)}, which is in front.` };
}

/** Null when it was clicked, else the reason why not. */
async function click(element: ElementHandle<Element>): Promise<string | null> {
  try {
    await retryWhenBusy((timeout) => element.click({ timeout, noWaitAfter: true }));
    return null;
  } catch (error) {
    const message = String(error instanceof Error ? error.message : error);
    const covering = /- (<[^\n]{1,300}) intercepts pointer events/.exec(message)?.[1];
    if (covering !== undefined) return `${covering} covers it; close or scroll that away first`;
    if (/not attached|detached/i.test(message))
      return "it went away; read the state again with browser_get_state";
    if (/not visible/i.test(message)) return "it is not visible; read the state again with browser_get_state";
    if (/not enabled/i.test(message)) return "it is disabled";
    if (/not stable/i.test(message)) return "it does not stop moving";
    // The element is fine: the page is busy.
    if (error instanceof Error && error.name === "TimeoutError") throw error;
    return message.split("\n")[0]!.replace(/^\w+\.\w+: /, "");
  }
}
