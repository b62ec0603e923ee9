import { setTimeout as wait } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import type { Camera } from "../camera.ts";

export type Picture = { readonly data: string; readonly width: number; readonly height: number };

export type PictureSourceDeps = {
  readonly page: Page;
  readonly camera: Camera;
  /** Values that no picture may show. */
  readonly hidden: readonly string[];
  /** Gets each picture; as often as the page changes. */
  readonly onPicture: (picture: Picture) => void;
};

/** Not more often than this, and less often than it takes: a large page is not to be busy with being looked at. */
const betweenMs = 200;
const unchangedMs = 400;
const longestSide = 1_280;
const quality = 60;

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
    else await this.#look(this.#session);
  }

  /** What the browser itself tells of, whenever something is drawn. */
  async #cast(session: CDPSession): Promise<void> {
    session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
      // At once: one that waits for its turn would keep the newest from being made.
      session.send("Page.screencastFrameAck", { sessionId }).catch(() => {}); // Closed meanwhile.
      this.#give({ data, width: metadata.deviceWidth, height: metadata.deviceHeight });
    });
    await session.send("Page.startScreencast", {
      format: "jpeg",
      quality,
      maxWidth: longestSide,
      maxHeight: longestSide,
    });
  }

  /** Pictures as screenshots are taken, with what is secret hidden. */
  async #look(session: CDPSession): Promise<void> {
    const { page, camera, hidden } = this.#deps;
    const { signal } = this.#closing;
    let last = "";
    while (!signal.aborted && !page.isClosed()) {
      const beganMs = performance.now();
      const data = await camera
        .take(page, hidden, () =>
          session.send("Page.captureScreenshot", { format: "jpeg", quality, optimizeForSpeed: true }),
        )
        // A page that is on its way elsewhere, or in which secrets cannot be looked for, is not shown for now.
        .then(
          (shot) => shot.data,
          () => last,
        );
      const { width, height } = page.viewportSize() ?? { width: 1280, height: 720 };
      if (data !== last) this.#give({ data, width, height });
      const pauseMs = data === last ? unchangedMs : betweenMs;
      last = data;
      await wait(Math.max(pauseMs, performance.now() - beganMs), undefined, { signal, ref: false });
    }
  }

  #give(picture: Picture): void {
    if (!this.#closing.signal.aborted) this.#deps.onPicture(picture);
  }
}
