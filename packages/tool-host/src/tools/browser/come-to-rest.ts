import type { Page, Request } from "playwright-core";

/** A page that still loads by then is shown with what is there. */
export const loadMs = 4_000;
/** What a page does at once is over by then. */
export const quietMs = 250;
/** A page that has not changed for so long, and waits for nothing, is not expected to. */
const stillMs = 100;

/**
 * Goes somewhere and waits until the page there has come to rest: it has loaded, shows something, asks for nothing more and has
 * not changed for a moment. A page that does not come to rest is waited for as long as it may take to do what it does at once.
 */
export async function arrive<Result>(page: Page, go: () => Promise<Result>): Promise<Result> {
  const traffic = new Traffic(page);
  let timer: NodeJS.Timeout | undefined;
  try {
    const result = await go();
    const late = new Promise<true>((resolve) => (timer = setTimeout(() => resolve(true), quietMs)));
    if (!(await Promise.race([isAtRest(page, traffic), late]))) await late;
    // A page that is not loaded by then goes on loading.
    await page.waitForLoadState("load", { timeout: loadMs }).catch(() => {});
    return result;
  } finally {
    clearTimeout(timer);
    traffic.forget();
  }
}

/** What a page asks for from the moment on at which this is made. */
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

  /** Resolves when nothing is on its way. */
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

/** False when the page goes on to another one meanwhile, is closed, or cannot be asked. */
async function isAtRest(page: Page, traffic: Traffic): Promise<boolean> {
  try {
    do {
      await traffic.quiet();
      await page.evaluate(untilStill, stillMs);
    } while (!traffic.isQuiet);
    return true;
  } catch {
    // It is no page that can be at rest: nothing more is known of it.
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
