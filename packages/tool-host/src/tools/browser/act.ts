import type { Action } from "@convoke/protocol";
import type { Page } from "playwright-core";
import { ToolInputError, type ToolSecret } from "../../tool.ts";
import type { OpenBrowser } from "./open-browser.ts";
import { clickElement } from "./click-element.ts";
import { hiddenValues } from "./hide-secrets.ts";
import { goBack, navigate, settle } from "./navigate.ts";
import type { Answer } from "./observe-browser.ts";
import { pageMarkdown, takePart } from "./page-markdown.ts";
import { showState, showTabs } from "./show-state.ts";
import { readStorage, writeStorage } from "./storage-state.ts";
import { typeText } from "./type-text.ts";

/** Executes one action of the browser tools. Mistakes of the page or the model are thrown or become an error answer. */
export async function act(
  action: Action,
  browser: OpenBrowser,
  secrets: readonly ToolSecret[],
): Promise<Answer> {
  const { context, tabs, recorder } = browser;
  const page = await tabs.current();
  switch (action.kind) {
    case "BrowserNavigateAction":
      return await navigate(browser, page, action.url, action.new_tab ?? false);
    case "BrowserClickAction":
      return await clickElement(browser, page, action.index, action.new_tab ?? false);
    case "BrowserTypeAction":
      return await typeText(browser, page, action, secrets);
    case "BrowserScrollAction":
      return await scroll(page, action.direction ?? "down");
    case "BrowserGoBackAction":
      return await goBack(browser, page);
    case "BrowserGetStateAction": {
      const text = await showState(browser, page);
      if (action.include_screenshot !== true) return { text, form: "state" };
      return {
        text,
        form: "state",
        picture: await browser.camera.take(page, hiddenValues(secrets), () =>
          page.screenshot({ type: "png" }),
        ),
      };
    }
    case "BrowserGetContentAction":
      return await readContent(page, action.extract_links ?? false, action.start_from_char ?? 0);
    case "BrowserListTabsAction":
      return { text: JSON.stringify(await showTabs(browser), null, 2), form: "data" };
    case "BrowserSwitchTabAction": {
      const wanted = await tabs.find(action.tab_id);
      await tabs.focus(wanted);
      return { text: `Tab ${action.tab_id} is in front: ${wanted.url()}` };
    }
    case "BrowserCloseTabAction": {
      const wanted = await tabs.find(action.tab_id);
      await wanted.close();
      const front = await tabs.current();
      return { text: `Closed tab ${action.tab_id}. In front is ${await tabs.idOf(front)}: ${front.url()}` };
    }
    case "BrowserGetStorageAction":
      return { text: JSON.stringify(await readStorage(context, context.pages()), null, 2), form: "data" };
    case "BrowserSetStorageAction": {
      const { cookies, items } = await writeStorage(context, page, action.storage_state);
      return { text: `Stored ${cookies} cookies and ${items} items.` };
    }
    case "BrowserStartRecordingAction": {
      if (recorder.isOn)
        throw new ToolInputError(
          "A recording is running already. Stop it first with browser_stop_recording.",
        );
      const path = await recorder.start(context, context.pages());
      return { text: `The recording began. Its file is ${path}.` };
    }
    case "BrowserStopRecordingAction": {
      if (!recorder.isOn)
        throw new ToolInputError("No recording is running. Start one with browser_start_recording.");
      const { path, eventCount } = await recorder.stop(context.pages());
      return { text: `The recording ended with ${eventCount} events (rrweb, a JSON array) in ${path}.` };
    }
    default:
      throw new ToolInputError(`The browser does not know the action ${action.kind}.`);
  }
}

/** Pixels of one scroll, as in the reference. */
const scrollPixels = 500;

async function scroll(page: Page, direction: "up" | "down"): Promise<Answer> {
  const { width, height } = page.viewportSize() ?? { width: 1280, height: 720 };
  await page.mouse.move(width / 2, height / 2);
  await page.mouse.wheel(0, direction === "down" ? scrollPixels : -scrollPixels);
  await settle(page);
  const place = await page.evaluate(() => {
    const { scrollHeight } = document.scrollingElement ?? document.documentElement;
    return `The page now shows pixels ${Math.round(scrollY)} to ${Math.round(scrollY + innerHeight)} of ${Math.max(scrollHeight, innerHeight)}.`;
  });
  return { text: `Scrolled ${direction}. ${place}` };
}

async function readContent(page: Page, wantsLinks: boolean, start: number): Promise<Answer> {
  const text = await pageMarkdown(page, wantsLinks);
  if (start > 0 && start >= text.length) {
    const reason = `Invalid parameter start_from_char: ${start}. The content has ${text.length} characters.`;
    return { text: reason, isError: true };
  }
  const part = takePart(text, start);
  const end = start + part.length;
  const more = end < text.length ? `; read on with start_from_char ${end}` : "";
  const head = `${page.url()}\nCharacters ${start} to ${end} of ${text.length}${more}.`;
  return { text: `${head}\n\n${part === "" ? "(The page shows no text.)" : part}` };
}
