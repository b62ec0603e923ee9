import type { Watcher } from "./attach-person.ts";
import type { BrowserUpdate } from "./browser-attachment.ts";

/** Kinds of updates of which only the newest matters. */
const passing: ReadonlySet<string> = new Set(["state", "picture"]);
/** Maximum of other waiting updates. A reader that falls further behind is disconnected. */
const maxWaiting = 200;

/** Queue for a person who watches a browser: the newest state, the newest picture, and all other updates in order. */
export class NewestUpdates implements Watcher<BrowserUpdate> {
  #waiting: BrowserUpdate[] = [];
  #wake: () => void = () => {};
  #isEnded = false;

  offer(update: BrowserUpdate): void {
    if (this.#isEnded) return;
    if (passing.has(update.type)) this.#waiting = this.#waiting.filter(({ type }) => type !== update.type);
    this.#waiting.push(update);
    if (this.#waiting.length > maxWaiting) this.end();
    this.#wake();
  }

  readonly next = async (): Promise<BrowserUpdate | null> => {
    while (this.#waiting.length === 0 && !this.#isEnded)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#waiting.shift() ?? null;
  };

  /** Waiting updates are still delivered. */
  readonly end = (): void => {
    this.#isEnded = true;
    this.#wake();
  };
}
