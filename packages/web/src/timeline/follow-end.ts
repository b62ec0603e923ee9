/** Distance from the end, in pixels, that counts as at the end. */
const near = 40;

type Scrolled = { readonly offset: number; readonly viewport: number; readonly whole: number };

/**
 * Whether a timeline scrolls along with new rows. It does from the start, and again when the user returns to the
 * end. Scrolling up pauses it; new rows never resume it.
 */
export class FollowEnd {
  #isFollowing: boolean;
  #lastOffset = 0;

  constructor(isFollowing = true) {
    this.#isFollowing = isFollowing;
  }

  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** The user scrolled up: wheel, touch or keys. */
  pause(): void {
    this.#isFollowing = false;
  }

  resume(): void {
    this.#isFollowing = true;
  }

  /** The scroll offset changed, for whatever reason. */
  scrolled({ offset, viewport, whole }: Scrolled): void {
    const distance = whole - viewport - offset;
    const isUpwards = offset < this.#lastOffset;
    this.#lastOffset = offset;
    // At the very end also after scrolling up: the content below may have become shorter.
    if (distance <= 1 || (!isUpwards && distance <= near)) this.#isFollowing = true;
    else if (isUpwards) this.#isFollowing = false;
  }
}
