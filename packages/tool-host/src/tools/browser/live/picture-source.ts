import { setTimeout as wait } from "node:timers/promises";
import type { CDPSession, Frame, Page } from "playwright-core";
import { withinMs } from "../../../within.ts";
import type { Camera } from "../camera.ts";

export type Picture = { readonly data: string; readonly width: number; readonly height: number };

export type PictureSourceDeps = {
  readonly page: Page;
  readonly camera: Camera;
  /** Values that no picture may show. */
  readonly hidden: readonly string[];
  /** Called with each picture, as often as the page changes. */
  readonly onPicture: (picture: Picture) => void;
  /** Milliseconds in which a new document is normally drawn; 1,000 unless given. */
  readonly owedMs?: number;
};

/** Minimum interval, and a multiple of the screenshot's duration, so that screenshots do not keep a large page busy. */
const betweenMs = 200;
const unchangedMs = 400;
/** Timeout in milliseconds for a browser's answer. */
const answerMs = 5_000;
const format = { format: "jpeg", quality: 60 } as const;
const screencast = { ...format, maxWidth: 1_280, maxHeight: 1_280 };
const screenshot = { ...format, optimizeForSpeed: true };

/** Pictures of one page until it is closed; none after `close` is called. */
export class PictureSource {
  readonly #deps: PictureSourceDeps;
  readonly #closing = new AbortController();
  #session: CDPSession | undefined;

  constructor(deps: PictureSourceDeps) {
    this.#deps = deps;
    // A closed page has no pictures; then another tab is in front, and is reported.
    void this.#run().catch(() => {});
  }

  close(): void {
    this.#closing.abort();
    // Also ends its screencast. Fails when the page is closed.
    void this.#session?.detach().catch(() => {});
  }

  async #run(): Promise<void> {
    const { page, hidden } = this.#deps;
    this.#session = await page.context().newCDPSession(page);
    if (this.#closing.signal.aborted) await this.#session.detach();
    else if (hidden.length === 0) await this.#cast(this.#session);
    else await this.#takeScreenshots(this.#session);
  }

  /** The browser's own screencast, sent on drawing; for a new document without a frame a screenshot is taken. */
  async #cast(session: CDPSession): Promise<void> {
    const { page, owedMs = 1_000 } = this.#deps;
    const { signal } = this.#closing;
    let isOwed = true;
    session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
      isOwed = false;
      // Acknowledged at once: otherwise the browser would not send the newest frame.
      session.send("Page.screencastFrameAck", { sessionId }).catch(() => {}); // Closed meanwhile.
      this.#give({ data, width: metadata.deviceWidth, height: metadata.deviceHeight });
    });
    const onNavigated = (frame: Frame): void => void (isOwed ||= frame === page.mainFrame());
    page.on("framenavigated", onNavigated);
    signal.addEventListener("abort", () => page.off("framenavigated", onNavigated));
    while (!signal.aborted && !page.isClosed()) {
      // A page that changes its process refuses the call, or accepts it and sends no frame.
      if (isOwed) await withinMs(session.send("Page.startScreencast", screencast), answerMs).catch(() => {});
      await wait(owedMs, undefined, { signal, ref: false });
      if (!isOwed) continue;
      const shot = await withinMs(session.send("Page.captureScreenshot", screenshot), answerMs).catch(
        () => undefined,
      );
      if (isOwed && shot !== undefined) this.#give({ data: shot.data, ...this.#size });
    }
  }

  /** Repeated screenshots, with secrets hidden. */
  async #takeScreenshots(session: CDPSession): Promise<void> {
    const { page, camera, hidden } = this.#deps;
    const { signal } = this.#closing;
    let last = "";
    while (!signal.aborted && !page.isClosed()) {
      const beganMs = performance.now();
      const data = await camera
        .take(page, hidden, () => session.send("Page.captureScreenshot", screenshot))
        // A page that is navigating, or cannot be searched for secrets, is not shown for now.
        .then(
          (shot) => shot.data,
          () => last,
        );
      if (data !== last) this.#give({ data, ...this.#size });
      const pauseMs = data === last ? unchangedMs : betweenMs;
      last = data;
      await wait(Math.max(pauseMs, performance.now() - beganMs), undefined, { signal, ref: false });
    }
  }

  get #size(): { readonly width: number; readonly height: number } {
    return this.#deps.page.viewportSize() ?? { width: 1280, height: 720 };
  }

  #give(picture: Picture): void {
    if (!this.#closing.signal.aborted) this.#deps.onPicture(picture);
  }
}
