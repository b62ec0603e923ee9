import type { BrowserContext, Page } from "playwright-core";
import { ToolInputError } from "../../tool.ts";

export type Tab = { readonly id: string; readonly page: Page };

/** Called with the address that a tab has reached, or null for any other change. */
export type TabListener = (arrivedAt: string | null) => void;

/** The tabs of one conversation, in the order in which they were opened, and the front tab. */
export class Tabs {
  readonly #context: BrowserContext;
  readonly #tabs = new Map<Page, Promise<string>>();
  #current: Page | undefined;
  readonly #listeners = new Set<TabListener>();

  constructor(context: BrowserContext) {
    this.#context = context;
  }

  /** Adds a page; a known one keeps its position. */
  add(page: Page): void {
    if (this.#tabs.has(page)) return;
    // A page that closed at once has no id, and nobody asks for it.
    this.#tabs.set(
      page,
      this.#idOf(page).catch(() => ""),
    );
    page.once("close", () => {
      this.#tabs.delete(page);
      if (this.#current === page) this.#current = undefined;
      this.#notify(null);
    });
    page.on("framenavigated", (frame) => frame === page.mainFrame() && this.#notify(page.url()));
    page.on("domcontentloaded", () => this.#notify(null));
    page.on("load", () => this.#notify(null));
    this.#notify(null);
  }

  /** The front page like {@link current}, or undefined when none is open. */
  get front(): Page | undefined {
    return this.#current ?? [...this.#tabs.keys()].at(-1);
  }

  /** Calls the listener whenever tabs, addresses or titles may have changed; returns a function that unsubscribes. */
  listen(listener: TabListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The front page; if that was closed the last opened one, or a new one if none is left. */
  async current(): Promise<Page> {
    this.#current ??= this.front ?? (await this.#context.newPage());
    this.add(this.#current);
    return this.#current;
  }

  async focus(page: Page): Promise<void> {
    this.add(page);
    this.#current = page;
    this.#notify(null);
    await page.bringToFront();
  }

  #notify(arrivedAt: string | null): void {
    for (const listener of this.#listeners) listener(arrivedAt);
  }

  async list(): Promise<Tab[]> {
    return await Promise.all(
      [...this.#tabs].map(async ([page, id]): Promise<Tab> => ({ id: await id, page })),
    );
  }

  /** Fails with the list of tabs when no tab has this id. */
  async find(id: string): Promise<Page> {
    const tabs = await this.list();
    const found = tabs.find((tab) => tab.id === id);
    if (found !== undefined) return found.page;
    const known = tabs.map((tab) => tab.id).join(", ");
    throw new ToolInputError(`There is no tab ${id}. The tabs are: ${known}.`);
  }

  async idOf(page: Page): Promise<string> {
    return (await this.#tabs.get(page)) ?? "";
  }

  /** Four characters of the target's id; other ones when two tabs would have the same. */
  async #idOf(page: Page): Promise<string> {
    const session = await this.#context.newCDPSession(page);
    const { targetInfo } = (await session.send("Target.getTargetInfo")) as {
      targetInfo: { targetId: string };
    };
    await session.detach().catch(() => {}); // Closed with its page.
    // Only earlier tabs: two new ones would wait for each other.
    const pages = [...this.#tabs.keys()];
    const earlier = pages.slice(0, pages.indexOf(page)).map(async (other) => this.#tabs.get(other));
    const others = new Set(await Promise.all(earlier));
    const { targetId } = targetInfo;
    for (let end = targetId.length; end >= 4; end--) {
      const id = targetId.slice(end - 4, end);
      if (!others.has(id)) return id;
    }
    return targetId;
  }
}
