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
  /** Gets each picture; as often as the page changes. */
  readonly onPicture: (picture: Picture) => void;
  /** In which a document that has come is drawn by all experience; a second where it is not given. */
  readonly owedMs?: number;
};

/** Not more often than this, and less often than it takes: a large page is not to be busy with being looked at. */
const betweenMs = 200;
const unchangedMs = 400;
/** After this a browser's answer is not waited for. */
const answerMs = 5_000;
const format = { format: "jpeg", quality: 60 } as const;
const screencast = { ...format, maxWidth: 1_280, maxHeight: 1_280 };
const screenshot = { ...format, optimizeForSpeed: true };

/** Pictures of one page, until it is closed. Nothing comes any more as soon as `close` is called. */
export class PictureSource {
  readonly #deps: PictureSourceDeps;
  readonly #closing = new AbortController();
  #session: CDPSession | undefined;

  constructor(deps: PictureSourceDeps) {
    this.#deps = deps;
    // A page that is gone has no pictures; another one is in front then, and is told.
    void this.#run().catch(() => {});
  }

  close(): void {
    this.#closing.abort();
    // Ends its screencast with it. Gone with its page.
    void this.#session?.detach().catch(() => {});
  }

  async #run(): Promise<void> {
    const { page, hidden } = this.#deps;
    this.#session = await page.context().newCDPSession(page);
    if (this.#closing.signal.aborted) await this.#session.detach();
    else if (hidden.length === 0) await this.#cast(this.#session);
    else await this.#takeScreenshots(this.#session);
  }

  /** What the browser itself tells of, whenever something is drawn; a document it tells nothing of is looked at. */
  async #cast(session: CDPSession): Promise<void> {
    const { page, owedMs = 1_000 } = this.#deps;
    const { signal } = this.#closing;
    let isOwed = true;
    session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
      isOwed = false;
      // At once: one that waits for its turn would keep the newest from being made.
      session.send("Page.screencastFrameAck", { sessionId }).catch(() => {}); // Closed meanwhile.
      this.#give({ data, width: metadata.deviceWidth, height: metadata.deviceHeight });
    });
    const onNavigated = (frame: Frame): void => void (isOwed ||= frame === page.mainFrame());
    page.on("framenavigated", onNavigated);
    signal.addEventListener("abort", () => page.off("framenavigated", onNavigated));
    while (!signal.aborted && !page.isClosed()) {
      // A page that is between two processes refuses, or has begun and tells of nothing.
      if (isOwed) await withinMs(session.send("Page.startScreencast", screencast), answerMs).catch(() => {});
      await wait(owedMs, undefined, { signal, ref: false });
      if (!isOwed) continue;
      const shot = await withinMs(session.send("Page.captureScreenshot", screenshot), answerMs).catch(
        () => undefined,
      );
      if (isOwed && shot !== undefined) this.#give({ data: shot.data, ...this.#size });
    }
  }

  /** Pictures as screenshots are taken, with what is secret hidden. */
  async #takeScreenshots(session: CDPSession): Promise<void> {
    const { page, camera, hidden } = this.#deps;
    const { signal } = this.#closing;
    let last = "";
    while (!signal.aborted && !page.isClosed()) {
      const beganMs = performance.now();
      const data = await camera
        .take(page, hidden, () => session.send("Page.captureScreenshot", screenshot))
        // A page that is on its way elsewhere, or in which secrets cannot be looked for, is not shown for now.
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
