import type { Watcher } from "./attach-person.ts";
import type { BrowserUpdate } from "./browser-attachment.ts";

/** Kinds of which only the newest is true. */
const passing: ReadonlySet<string> = new Set(["state", "picture"]);
/** So much is kept of the others for one who takes nothing; then they are gone, as a person would be. */
const maxWaiting = 200;

/** What waits for one who watches a browser: the newest state, the newest picture, and all the rest in order. */
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

  /** What waits is still given. */
  readonly end = (): void => {
    this.#isEnded = true;
    this.#wake();
  };
}
