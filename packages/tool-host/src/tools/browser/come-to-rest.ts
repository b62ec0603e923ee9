import type { Page, Request } from "playwright-core";

/** Timeout in milliseconds for loading; after it the page is shown as it is. */
export const loadMs = 4_000;
/** Milliseconds in which a page finishes its immediate work. */
export const quietMs = 250;
/** A page without changes and pending requests for this many milliseconds counts as idle. */
const stillMs = 100;

/**
 * Navigates and waits until the page is idle: it has loaded, shows something, has no pending requests and has not changed for a
 * moment. A page that does not become idle is awaited for the time of its immediate work.
 */
export async function arrive<Result>(page: Page, go: () => Promise<Result>): Promise<Result> {
  const traffic = new Traffic(page);
  let timer: NodeJS.Timeout | undefined;
  try {
    const result = await go();
    const late = new Promise<true>((resolve) => (timer = setTimeout(() => resolve(true), quietMs)));
    if (!(await Promise.race([isAtRest(page, traffic), late]))) await late;
    // A page that is not loaded by then continues loading.
    await page.waitForLoadState("load", { timeout: loadMs }).catch(() => {});
    return result;
  } finally {
    clearTimeout(timer);
    traffic.forget();
  }
}

/** Tracks the requests of a page from now on. */
class Traffic {
  readonly #page: Page;
  readonly #open = new Set<Request>();
  #ended = Promise.withResolvers<void>();

  constructor(page: Page) {
    this.#page = page;
    page.on("request", this.#onBegun);
    page.on("requestfinished", this.#onEnded);
    page.on("requestfailed", this.#onEnded);
  }

  get isQuiet(): boolean {
    return this.#open.size === 0;
  }

  /** Resolves when no request is pending. */
  async quiet(): Promise<void> {
    while (!this.isQuiet) await this.#ended.promise;
  }

  forget(): void {
    this.#page.off("request", this.#onBegun);
    this.#page.off("requestfinished", this.#onEnded);
    this.#page.off("requestfailed", this.#onEnded);
  }

  readonly #onBegun = (request: Request): void => void this.#open.add(request);
  readonly #onEnded = (request: Request): void => {
    this.#open.delete(request);
    this.#ended.resolve();
    this.#ended = Promise.withResolvers();
  };
}

/** False when the page navigates meanwhile, is closed, or does not answer. */
async function isAtRest(page: Page, traffic: Traffic): Promise<boolean> {
  try {
    do {
      await traffic.quiet();
      await page.evaluate(untilStill, stillMs);
    } while (!traffic.isQuiet);
    return true;
  } catch {
    // Not a page that can be idle: nothing more is known of it.
    return false;
  }
}

/** Runs in the page: resolves when it has loaded, shows something, and has not changed for `restMs`. */
export async function untilStill(restMs: number): Promise<void> {
  const shown = "img, canvas, video, embed, object, button, select, textarea, input:not([type=hidden])";
  await new Promise<void>((resolve) => {
    let timer = setTimeout(check, restMs);
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(check, restMs);
    });
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    function check(): void {
      const hasLoaded = document.readyState === "complete";
      if (
        hasLoaded &&
        (document.querySelector(shown) !== null || (document.body?.innerText.trim() ?? "") !== "")
      ) {
        observer.disconnect();
        resolve();
      } else timer = setTimeout(check, restMs);
    }
  });
}
