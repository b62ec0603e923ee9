import { isDeepStrictEqual } from "node:util";
import type { Watcher } from "../../../attach-person.ts";
import type { BrowserUpdate, WatchedTab } from "../../../browser-attachment.ts";
import { NewestUpdates } from "../../../newest-updates.ts";
import type { Picture } from "./picture-source.ts";

/** Distributes updates to people who watch a browser. */
export class BrowserView {
  readonly #followers = new Map<object, NewestUpdates>();
  /** Called when the first watcher comes and when the last one has gone. */
  readonly #onWatched: (isWatched: boolean) => void;
  #state: BrowserUpdate = { type: "state", isOpen: false, tabs: [] };
  #picture: BrowserUpdate | null = null;
  #owner: object | undefined;

  constructor(onWatched: (isWatched: boolean) => void) {
    this.#onWatched = onWatched;
  }

  get isWatched(): boolean {
    return this.#followers.size > 0;
  }

  /** Null when there is no browser. */
  showTabs(tabs: readonly WatchedTab[] | null): void {
    const state = { type: "state", isOpen: tabs !== null, tabs: tabs ?? [] } as const;
    if (tabs === null) this.#picture = null;
    if (isDeepStrictEqual(state, this.#state)) return;
    this.#state = state;
    this.#publish(state);
  }

  /** Null while the last picture is outdated and there is no new one. */
  showPicture(picture: Picture | null): void {
    this.#picture = picture === null ? null : { type: "picture", ...picture };
    if (this.#picture !== null) this.#publish(this.#picture);
  }

  /** Who has control (undefined for the agent), and what the person did. */
  lend(owner: object | undefined, did: string): void {
    const before = this.#owner;
    this.#owner = owner;
    for (const [who, follower] of this.#followers) {
      const lent = { type: "lent", isLent: owner !== undefined, isYours: owner === who } as const;
      follower.offer(who === before ? { ...lent, did } : lent);
    }
  }

  refuse(who: object, reason: string): void {
    this.#followers.get(who)?.offer({ type: "refused", reason });
  }

  /** Sends the complete current state first. */
  watch(who: object): Watcher<BrowserUpdate> {
    const follower = new NewestUpdates();
    follower.offer(this.#state);
    const isYours = this.#owner === who;
    follower.offer({ type: "lent", isLent: this.#owner !== undefined, isYours });
    if (this.#picture !== null) follower.offer(this.#picture);
    this.#followers.set(who, follower);
    if (this.#followers.size === 1) this.#onWatched(true);
    return {
      next: follower.next,
      end: () => {
        follower.end();
        if (this.#followers.delete(who) && this.#followers.size === 0) this.#onWatched(false);
      },
    };
  }

  /** No more updates come. */
  end(): void {
    for (const follower of this.#followers.values()) follower.end();
    this.#followers.clear();
    this.#onWatched(false);
  }

  #publish(update: BrowserUpdate): void {
    for (const follower of this.#followers.values()) follower.offer(update);
  }
}
