/** Who comes as close to the end as this, in pixels, wants to be there. */
const near = 40;

type Scrolled = { readonly offset: number; readonly viewport: number; readonly whole: number };

/**
 * Whether a timeline goes along with what comes. It does so from the start and again whenever its reader comes back to the end; a move
 * upwards lets go, and nothing that comes makes it take hold again.
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

  /** The reader moved upwards: wheel, touch, keys. */
  pause(): void {
    this.#isFollowing = false;
  }

  resume(): void {
    this.#isFollowing = true;
  }

  /** The place changed, whoever moved it. */
  scrolled({ offset, viewport, whole }: Scrolled): void {
    const distance = whole - viewport - offset;
    const isUpwards = offset < this.#lastOffset;
    this.#lastOffset = offset;
    // At the very end also after an upward move: what was below has become shorter.
    if (distance <= 1 || (!isUpwards && distance <= near)) this.#isFollowing = true;
    else if (isUpwards) this.#isFollowing = false;
  }
}
