import type { Page } from "playwright-core";
import type { BrowserInput } from "../../../browser-attachment.ts";
import { ToolInputError } from "../../../tool.ts";
import { withinMs } from "../../../within.ts";
import type { OpenBrowser } from "../open-browser.ts";
import { Deeds } from "./deeds.ts";
import { nameElement } from "./name-element.ts";

export type HandInput = Exclude<BrowserInput, { type: "take" | "give" }>;

/** Timeout in milliseconds of one input; a busy page handles it later, and the next one is tried. */
const inputMs = 2_000;
const modifiers: ReadonlySet<string> = new Set(["Shift", "Control", "Alt", "Meta"]);

/** Mouse and keyboard of the person who controls a browser. */
export class Hands {
  readonly deeds = new Deeds();
  readonly #browser: OpenBrowser;
  readonly #pressed = new Set<string>();
  /** The page and its focused element; queried again after inputs that may have changed it. */
  #focus: { readonly page: Page; readonly name: string } | undefined;
  #isMoving = false;
  readonly #buttons = new Set<"left" | "middle" | "right">();

  constructor(browser: OpenBrowser) {
    this.#browser = browser;
  }

  /** Null when it was done, or is pending in a busy page; else the reason for the refusal. */
  async do(input: HandInput): Promise<string | null> {
    const page = this.#browser.tabs.front;
    if (page === undefined) return "No tab is open.";
    try {
      await withinMs(this.#do(page, input), inputMs);
      return null;
    } catch (error) {
      if (error instanceof ToolInputError) return error.message;
      return `The browser did not take it: ${String(error).split("\n")[0]!.slice(0, 300)}`;
    }
  }

  /** Releases every key and button. */
  async release(): Promise<void> {
    const page = this.#browser.tabs.front;
    if (page === undefined) return;
    const ups = [
      ...[...this.#pressed].map((key) => page.keyboard.up(key)),
      ...[...this.#buttons].map((button) => page.mouse.up({ button })),
    ];
    // A closed page has no pressed keys.
    await withinMs(Promise.allSettled(ups), inputMs);
  }

  async #do(page: Page, input: HandInput): Promise<void> {
    switch (input.type) {
      case "mouse":
        return await this.#move(page, input);
      case "wheel":
        await page.mouse.move(input.x, input.y);
        await page.mouse.wheel(input.dx, input.dy);
        return this.deeds.scrolled();
      case "key":
        return await this.#key(page, input);
      case "text":
        await this.#type(page, input.text);
        return;
      case "tab": {
        const tab = await this.#browser.tabs.find(input.id);
        await this.#browser.tabs.focus(tab);
        return this.deeds.wentToTab(tab.url());
      }
    }
  }

  async #move(page: Page, input: Extract<HandInput, { type: "mouse" }>): Promise<void> {
    const { event, x, y, button, clicks } = input;
    if (event === "move") {
      // A busy page has not seen them; they are outdated.
      if (this.#isMoving) return;
      this.#isMoving = true;
      void page.mouse
        .move(x, y)
        .catch(() => {}) // Its page is gone.
        .finally(() => (this.#isMoving = false));
      return;
    }
    if (event === "down") {
      this.#focus = undefined;
      // Named before the click, which may remove the element. The second press of a double click is not a second deed.
      if (clicks === 1) this.deeds.clicked(await nameElement(page, { x, y }));
      await page.mouse.move(x, y);
      this.#buttons.add(button);
      await page.mouse.down({ button, clickCount: clicks });
      return;
    }
    await page.mouse.move(x, y);
    this.#buttons.delete(button);
    await page.mouse.up({ button, clickCount: clicks });
  }

  async #key(page: Page, { event, key }: Extract<HandInput, { type: "key" }>): Promise<void> {
    if (event === "up") {
      if (this.#pressed.delete(key)) await page.keyboard.up(key);
      return;
    }
    const isCharacter = /^.$/u.test(key);
    const isCommand = [...this.#pressed].some((pressed) => modifiers.has(pressed) && pressed !== "Shift");
    if (isCharacter && !isCommand && !/^[\x20-\x7e]$/.test(key)) return await this.#type(page, key);
    if (isCharacter && !isCommand) this.deeds.typed(await this.#focused(page), 1);
    else if (!modifiers.has(key)) {
      this.deeds.pressed(isCharacter ? "a shortcut" : key);
      this.#focus = undefined;
    }
    try {
      await page.keyboard.down(key);
    } catch (error) {
      if (/Unknown key/.test(String(error))) throw new ToolInputError(`There is no key ${key}.`);
      throw error;
    }
    this.#pressed.add(key);
  }

  async #type(page: Page, text: string): Promise<void> {
    this.deeds.typed(await this.#focused(page), text.length);
    await page.keyboard.insertText(text);
  }

  async #focused(page: Page): Promise<string> {
    if (this.#focus?.page !== page) this.#focus = { page, name: await nameElement(page, null) };
    return this.#focus.name;
  }
}
