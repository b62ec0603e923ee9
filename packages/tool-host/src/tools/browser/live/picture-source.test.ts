import { EventEmitter } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Camera } from "../camera.ts";
import { PictureSource, type Picture } from "./picture-source.ts";

/** A page whose browser sends no frame until `frame` is called. */
class QuietPage extends EventEmitter {
  readonly sent: string[] = [];
  readonly #session = Object.assign(new EventEmitter(), {
    detach: async () => {},
    send: async (method: string) => {
      this.sent.push(method);
      if (method === "Page.startScreencast" && this.refusals-- > 0) throw new Error("Not attached");
      return { data: "looked" };
    },
  });
  refusals = 0;

  frame(): void {
    const metadata = { deviceWidth: 1280, deviceHeight: 720 };
    this.#session.emit("Page.screencastFrame", { data: "cast", metadata, sessionId: 1 });
  }

  readonly context = () => ({ newCDPSession: async () => this.#session });
  readonly mainFrame = () => this;
  readonly isClosed = () => false;
  readonly viewportSize = () => ({ width: 1280, height: 720 });
}

test("a document for which the browser sends no frames, or refuses to, gets screenshots; others do not", async () => {
  const page = new QuietPage();
  page.refusals = 1;
  const pictures: string[] = [];
  const onPicture = ({ data }: Picture): void => void pictures.push(data);
  const given = page as unknown as Page;
  const camera = new Camera();
  const source = new PictureSource({ page: given, camera, hidden: [], onPicture, owedMs: 1 });
  // Requested again after the refusal; the current picture is shown.
  await expect.poll(() => pictures.length).toBeGreaterThan(2);
  expect(page.sent.filter((method) => method === "Page.startScreencast").length).toBeGreaterThan(2);
  page.frame();
  page.emit("framenavigated", {});
  const seen = pictures.length;
  expect(pictures.at(-1)).toBe("cast");
  await wait(20);
  expect(pictures).toHaveLength(seen);
  page.emit("framenavigated", page);
  await expect.poll(() => pictures.at(-1)).toBe("looked");
  source.close();
  const last = pictures.length;
  await wait(20);
  expect(pictures).toHaveLength(last);
});
