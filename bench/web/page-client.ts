import { gzipSync } from "node:zlib";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

/** A web client that shows conversations of a server. */
export type PageClient = {
  readonly name: string;
  readonly browser: Browser;
  readonly addressOf: (conversationId: string) => string;
  /** Stored state of an earlier visit; caches are cold all the same. */
  readonly storageState: BrowserContextOptions["storageState"];
};

/** A page of a browser with an empty cache. Closing its context closes it. */
export async function coldPage({ browser, storageState }: PageClient): Promise<Page> {
  const context: BrowserContext = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    ...(storageState === undefined ? {} : { storageState }),
  });
  const page = await context.newPage();
  page.setDefaultTimeout(timeoutMs);
  return page;
}

/** Milliseconds from the address to the words on the screen. Checks only new content, to cost the page little. */
export async function openAt(page: Page, address: string, words: string): Promise<number> {
  await page.addInitScript((wanted) => {
    const isThere = new Promise<void>((resolve) => {
      const seen = ({ addedNodes, target }: MutationRecord): boolean =>
        [target.nodeType === Node.TEXT_NODE ? target : null, ...addedNodes].some(
          (node) => node?.textContent?.includes(wanted) === true,
        );
      const observer = new MutationObserver((changes) => {
        if (!changes.some(seen)) return;
        observer.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
      });
      observer.observe(document, { childList: true, subtree: true, characterData: true });
    });
    Object.assign(window, { isThere });
  }, words);
  const startMs = performance.now();
  await page.goto(address, { waitUntil: "commit" });
  await page.evaluate(() => (window as unknown as { isThere: Promise<void> }).isThere);
  return performance.now() - startMs;
}

export async function painted(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
}

export type Loaded = {
  readonly requests: number;
  /** Bytes on the wire. */
  readonly wireKilobytes: number;
  /** Compressed size, whether or not the server compresses. */
  readonly scriptKilobytes: number;
  readonly styleKilobytes: number;
};

/** Records loaded files until the returned function is called. */
export async function countLoads(page: Page): Promise<() => Promise<Loaded>> {
  const addresses = { Script: new Set<string>(), Stylesheet: new Set<string>() };
  let requests = 0;
  let wireBytes = 0;
  const session = await page.context().newCDPSession(page);
  session.on("Network.responseReceived", ({ type, response }) => {
    if (type === "Script" || type === "Stylesheet") addresses[type].add(response.url);
  });
  session.on("Network.loadingFinished", ({ encodedDataLength }) => {
    requests += 1;
    wireBytes += encodedDataLength;
  });
  await session.send("Network.enable");
  return async () => {
    const loaded = { requests, wireKilobytes: wireBytes / 1_024 };
    await session.detach();
    return {
      ...loaded,
      scriptKilobytes: await packedKilobytes(addresses.Script),
      styleKilobytes: await packedKilobytes(addresses.Stylesheet),
    };
  };
}

async function packedKilobytes(addresses: ReadonlySet<string>): Promise<number> {
  let bytes = 0;
  for (const address of addresses) {
    const reply = await fetch(address);
    bytes += gzipSync(Buffer.from(await reply.arrayBuffer())).length;
  }
  return bytes / 1_024;
}

/** Timeout in milliseconds, for another client on a busy machine. */
const timeoutMs = 120_000;
