import type { Page } from "playwright-core";
import type { WatchedTab } from "../../../browser-attachment.ts";
import { maskText } from "../../../processes/mask.ts";
import type { ToolSecret } from "../../../tool.ts";
import { withinMs } from "../../../within.ts";
import { hiddenValues } from "../hide-secrets.ts";
import type { OpenBrowser } from "../open-browser.ts";
import { Pace } from "./pace.ts";
import { PictureSource, type Picture } from "./picture-source.ts";

export type LivePicturesDeps = {
  readonly browser: OpenBrowser;
  readonly secrets: readonly ToolSecret[];
  readonly onPicture: (picture: Picture | null) => void;
  readonly onTabs: (tabs: readonly WatchedTab[]) => void;
  /** Called when a tab has arrived at this address. */
  readonly onArrival: (url: string) => void;
};

const betweenMs = 200;
/** Milliseconds to wait for a title; a slow page has none for now. */
const titleMs = 500;
const maxTabs = 50;
const longestAddress = 2_000;
const longestTitle = 200;
/** Far larger than any picture of a screencast. */
const longestPicture = 1_500_000;

/** The tabs of an open browser, and pictures of the front tab, until disposal. */
export class LivePictures implements Disposable {
  readonly #deps: LivePicturesDeps;
  readonly #pace: Pace<Picture>;
  readonly #stopListening: () => void;
  #secrets: readonly ToolSecret[];
  #source: PictureSource | undefined;
  #page: Page | undefined;
  #isOver = false;
  #isDirty = false;
  #isPublishing = false;

  constructor(deps: LivePicturesDeps) {
    this.#deps = deps;
    this.#secrets = deps.secrets;
    this.#pace = new Pace<Picture>(betweenMs, (picture) => {
      deps.onPicture(picture);
      // Scripts change titles without an event, but only together with drawing.
      this.#requestTabs();
    });
    this.#stopListening = deps.browser.tabs.listen((arrivedAt) => {
      if (arrivedAt !== null) deps.onArrival(arrivedAt);
      this.#requestTabs();
    });
    this.#requestTabs();
  }

  /** From now on no picture shows these secrets. */
  setSecrets(secrets: readonly ToolSecret[]): void {
    if (hiddenValues(secrets).join("\0") === hiddenValues(this.#secrets).join("\0")) return;
    this.#secrets = secrets;
    this.#follow(undefined);
    this.#requestTabs();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#stopListening();
    this.#follow(undefined);
    this.#pace[Symbol.dispose]();
  }

  #requestTabs(): void {
    this.#isDirty = true;
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    void this.#publishTabs();
  }

  async #publishTabs(): Promise<void> {
    while (this.#isDirty && !this.#isOver) {
      this.#isDirty = false;
      const { front } = this.#deps.browser.tabs;
      if (front !== this.#page) this.#follow(front);
      const tabs = await this.#describe();
      if (!this.#isOver) this.#deps.onTabs(tabs);
    }
    this.#isPublishing = false;
  }

  #follow(page: Page | undefined): void {
    this.#source?.close();
    this.#source = undefined;
    this.#page = page;
    this.#pace.clear();
    this.#deps.onPicture(null);
    if (page === undefined) return;
    this.#source = new PictureSource({
      page,
      camera: this.#deps.browser.camera,
      hidden: hiddenValues(this.#secrets),
      onPicture: (picture) => picture.data.length <= longestPicture && this.#pace.offer(picture),
    });
  }

  async #describe(): Promise<WatchedTab[]> {
    const { tabs } = this.#deps.browser;
    const all = (await tabs.list()).slice(0, maxTabs);
    const { front } = tabs;
    return await Promise.all(
      all.map(async ({ id, page }) => ({
        id,
        url: this.#shown(page.url(), longestAddress),
        // A navigating page has no title for the moment.
        title: this.#shown((await withinMs(page.title(), titleMs).catch(() => "")) ?? "", longestTitle),
        isFront: page === front,
      })),
    );
  }

  #shown(text: string, length: number): string {
    return maskText(text, this.#secrets).slice(0, length).toWellFormed();
  }
}
