import { expect } from "vitest";
import type { BrowserInput, BrowserUpdate, WatchedTab } from "../../../browser-attachment.ts";
import type { ToolSession } from "../../../host.ts";
import { InputQueue } from "../../../testing/input-queue.ts";

type Lent = Extract<BrowserUpdate, { type: "lent" }>;
type Picture = Extract<BrowserUpdate, { type: "picture" }> & { readonly atMs: number };

/** A person who watches the browser of a session. */
export class BrowserPerson implements AsyncDisposable {
  readonly updates: BrowserUpdate[] = [];
  readonly pictures: Picture[] = [];
  readonly #leaving = new AbortController();
  readonly #inputs = new InputQueue<BrowserInput>();
  readonly #showing: Promise<void>;

  constructor(
    attach: (inputs: AsyncIterable<BrowserInput>, signal: AbortSignal) => AsyncIterable<BrowserUpdate>,
  ) {
    this.#showing = this.#show(attach(this.#inputs, this.#leaving.signal));
    this.#showing.catch(() => {});
  }

  static at(session: ToolSession): BrowserPerson {
    return new BrowserPerson((inputs, signal) => session.attachBrowser(inputs, signal));
  }

  do(input: BrowserInput): void {
    this.#inputs.push(input);
  }

  async take(): Promise<void> {
    this.do({ type: "take" });
    await this.until(() => this.lent?.isYours === true);
  }

  async give(): Promise<void> {
    this.do({ type: "give" });
    await this.until(() => this.lent?.isYours === false);
  }

  click(x: number, y: number): void {
    for (const event of ["down", "up"] as const)
      this.do({ type: "mouse", event, x, y, button: "left", clicks: 1 });
  }

  press(...keys: readonly string[]): void {
    for (const key of keys) {
      this.do({ type: "key", event: "down", key });
      this.do({ type: "key", event: "up", key });
    }
  }

  get lent(): Lent | undefined {
    return this.updates.findLast((update) => update.type === "lent");
  }

  get refusals(): readonly string[] {
    return this.updates.flatMap((update) => (update.type === "refused" ? [update.reason] : []));
  }

  get isOpen(): boolean | undefined {
    return this.updates.findLast((update) => update.type === "state")?.isOpen;
  }

  get front(): WatchedTab | undefined {
    return this.updates.findLast((update) => update.type === "state")?.tabs.find(({ isFront }) => isFront);
  }

  /** Waits for a picture newer than this call. */
  async seesAnother(): Promise<Picture> {
    const count = this.pictures.length;
    await this.until(() => this.pictures.length > count);
    return this.pictures.at(-1)!;
  }

  async until(isThere: () => boolean): Promise<void> {
    const last = (): string => JSON.stringify(this.updates.slice(-5));
    await expect.poll(isThere, { interval: 10, timeout: 60_000, message: last() }).toBe(true);
  }

  /** Settles when the updates end. */
  get left(): Promise<void> {
    return this.#showing;
  }

  /** Detaches properly: the summary of what was done arrives before the end. */
  async leave(): Promise<void> {
    this.#inputs.end();
    await this.#showing;
  }

  /** Disconnects without giving back control. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
    this.#inputs.end();
    // `left` reports why it ended.
    await this.#showing.catch(() => {});
  }

  async #show(updates: AsyncIterable<BrowserUpdate>): Promise<void> {
    for await (const update of updates) {
      if (update.type === "picture") this.pictures.push({ ...update, atMs: performance.now() });
      else this.updates.push(update);
    }
  }
}
