import type { Frame, Page, Response } from "playwright-core";
import { ToolInputError } from "../../tool.ts";
import { isAllowedUrl } from "./browser-params.ts";
import { arrive, loadMs, quietMs } from "./come-to-rest.ts";
import { keepPdf } from "./keep-pdf.ts";
import type { OpenBrowser } from "./open-browser.ts";
import type { Answer } from "./observe-browser.ts";

/** Timeout in milliseconds after which a server is reported as hanging. */
const navigationMs = 30_000;
const failurePageMs = 4_000;

/** Opens an address in the front tab or in a new one. */
export async function navigate(
  browser: OpenBrowser,
  current: Page,
  address: string,
  wantsNewTab: boolean,
): Promise<Answer> {
  const url = checkAddress(address, browser.params.allowedDomains);
  const isBlank = current.url() === "about:blank";
  const page = wantsNewTab && !isBlank ? await browser.context.newPage() : current;
  await browser.tabs.focus(page);
  const timeout = Math.min(navigationMs, browser.params.actionMs);
  try {
    const response = await arrive(page, () => goTo(page, url, timeout));
    await browser.downloaded();
    await keepPdf(browser, page);
    const arrived = URL.parse(page.url());
    if (arrived !== null && !isAllowedUrl(arrived, browser.params.allowedDomains))
      return {
        text: `${url.href} leads to ${arrived.host}, which is not among the allowed domains.`,
        isError: true,
      };
    const status = response?.status() ?? 200;
    const answered = status >= 400 ? ` The server answered with status ${status}.` : "";
    const title = await page.title().catch(() => "");
    return {
      text: `Opened ${page.url()} in tab ${await browser.tabs.idOf(page)}. Title: ${title}.${answered}`,
    };
  } catch (error) {
    const message = String(error instanceof Error ? error.message : error);
    if (/Download is starting|ERR_ABORTED/.test(message)) {
      await page.waitForTimeout(quietMs);
      if (await browser.downloaded())
        return { text: `${url.href} is no page but a file, which was downloaded.` };
    }
    if (error instanceof Error && error.name === "TimeoutError") throw error;
    return { text: `${url.href} could not be opened: ${reasonOf(message)}.`, isError: true };
  }
}

/**
 * Navigates to an address. On a failure the browser first rejects and then shows its own error page, which would interrupt the next
 * navigation: so the error page is awaited. The error page of an earlier failure, of a clicked link for example, may come first.
 */
export async function goTo(page: Page, url: URL, timeout: number): Promise<Response | null> {
  for (let triesLeft = 2; ; triesLeft--) {
    const failurePage = watchFailurePage(page);
    try {
      return await page.goto(url.href, { waitUntil: "commit", timeout });
    } catch (error) {
      const code = netError(String(error));
      if (code !== undefined && code !== "ERR_ABORTED") await failurePage.shown;
      const by = /interrupted by another navigation to "([^"]*)"/.exec(String(error))?.[1] ?? "";
      // The previous attempt may still be running in the browser, so it may be the other navigation.
      if (triesLeft === 0 || !(by.startsWith("chrome-error:") || by === url.href)) throw error;
    } finally {
      failurePage.forget();
    }
  }
}

/** Starts waiting for the browser's next error page; with a timeout, because some failures have none. */
function watchFailurePage(page: Page): { readonly shown: Promise<void>; readonly forget: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onNavigated = (frame: Frame): void => {
    if (frame === page.mainFrame() && frame.url().startsWith("chrome-error:")) resolve();
  };
  let timer: NodeJS.Timeout | undefined;
  page.on("framenavigated", onNavigated);
  return {
    get shown() {
      timer ??= setTimeout(resolve, failurePageMs);
      return promise;
    },
    forget: () => {
      clearTimeout(timer);
      page.off("framenavigated", onNavigated);
    },
  };
}

/** One step back in the tab's history. */
export async function goBack({ context }: OpenBrowser, page: Page): Promise<Answer> {
  const session = await context.newCDPSession(page);
  try {
    const history = (await session.send("Page.getNavigationHistory")) as {
      readonly currentIndex: number;
      readonly entries: readonly { readonly url: string }[];
    };
    const before = history.entries[history.currentIndex - 1];
    if (before === undefined || (before.url === "about:blank" && history.currentIndex === 1))
      throw new ToolInputError("There is no page to go back to in this tab.");
    await arrive(page, () => page.goBack({ waitUntil: "commit", timeout: navigationMs }));
    return { text: `Went back to ${page.url()}.` };
  } finally {
    await session.detach().catch(() => {}); // The tab is gone.
  }
}

/** Waits a moment for the effects of an action: a navigation that it started, or the immediate work of scripts. */
export async function settle(page: Page): Promise<void> {
  await page.waitForTimeout(quietMs).catch(() => {}); // A page that closed itself is settled.
  // A page that is not loaded by then continues loading.
  await page.waitForLoadState("load", { timeout: loadMs }).catch(() => {});
}

/** Only network addresses, no files of this machine. */
export function checkAddress(address: string, domains: readonly string[] | null): URL {
  const given = address.trim();
  const text = /^[a-z][a-z\d+.-]*:(?!\d)/i.test(given) ? given : `https://${given}`;
  const url = URL.parse(text);
  if (url === null || given === "")
    throw new ToolInputError(`Invalid parameter url: ${address} is not an address.`);
  if (!["http:", "https:", "about:", "data:"].includes(url.protocol)) {
    throw new ToolInputError(
      `Invalid parameter url: addresses that begin with ${url.protocol} are closed. Use http or https; for files use the file tools.`,
    );
  }
  if (!isAllowedUrl(url, domains)) {
    throw new ToolInputError(
      `Invalid parameter url: ${url.hostname} is not among the allowed domains (${domains?.join(", ")}).`,
    );
  }
  return url;
}

const reasons: Readonly<Record<string, string>> = {
  ERR_NAME_NOT_RESOLVED: "there is no host of this name, or it may not be reached from here",
  ERR_CONNECTION_REFUSED: "nothing listens at this address",
  ERR_CONNECTION_RESET: "the server cut the connection",
  ERR_EMPTY_RESPONSE: "the server sent nothing",
  ERR_TOO_MANY_REDIRECTS: "it redirects in a circle",
  ERR_CERT_AUTHORITY_INVALID: "its certificate is not trusted here",
  ERR_BLOCKED_BY_CLIENT: "its domain is not allowed",
  ERR_ABORTED: "the server or the page gave it up",
  ERR_INTERNET_DISCONNECTED: "there is no network",
  ERR_UNSAFE_PORT: "browsers do not open this port",
};

function reasonOf(message: string): string {
  const code = netError(message) ?? "";
  const plain = message.split("\n")[0]!.replace(/^page\.goto: /, "");
  const known = reasons[code];
  return known === undefined ? plain : `${known} (${code})`;
}

function netError(message: string): string | undefined {
  return /net::(ERR_\w+)/.exec(message)?.[1];
}
