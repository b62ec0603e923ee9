import { isDeepStrictEqual } from "node:util";
import type { Watcher } from "../../../attach-person.ts";
import type { BrowserUpdate, WatchedTab } from "../../../browser-attachment.ts";
import { NewestUpdates } from "../../../newest-updates.ts";
import type { Picture } from "./picture-source.ts";

/** What those who watch a browser are shown. */
export class BrowserView {
  readonly #followers = new Map<object, NewestUpdates>();
  /** Told when the first one comes and when the last one has gone. */
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

  /** Null where there is none. */
  showTabs(tabs: readonly WatchedTab[] | null): void {
    const state = { type: "state", isOpen: tabs !== null, tabs: tabs ?? [] } as const;
    if (tabs === null) this.#picture = null;
    if (isDeepStrictEqual(state, this.#state)) return;
    this.#state = state;
    this.#publish(state);
  }

  /** Null where the last one is not true any more and there is no other one yet. */
  showPicture(picture: Picture | null): void {
    this.#picture = picture === null ? null : { type: "picture", ...picture };
    if (this.#picture !== null) this.#publish(this.#picture);
  }

  /** Who has it, undefined for the agent; and what was done by who had it. */
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

  /** Begins with everything as it is. */
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

  /** There is nothing more to come. */
  end(): void {
    for (const follower of this.#followers.values()) follower.end();
    this.#followers.clear();
    this.#onWatched(false);
  }

  #publish(update: BrowserUpdate): void {
    for (const follower of this.#followers.values()) follower.offer(update);
  }
}
