import { Fault } from "../lib/fault.ts";

export type LargeAnswersOptions = {
  /** Concurrent requests of one user. */
  readonly maxAtWork?: number;
  /** Large answers of one user that the client has not read yet. */
  readonly maxUntaken?: number;
  /** Requests of one user that wait. */
  readonly maxWaiting?: number;
  readonly maxWaitMs?: number;
};

/** From this size on an answer counts until its client has read it. */
const largeBytes = 1024 * 1024;

type Taker = { atWork: number; untaken: number; readonly waiting: (() => void)[] };

/**
 * Bounds the memory and time of one user's requests for pages of a log: a user who requests many large pages and does
 * not read them waits, and is then refused. Other users are not affected.
 */
export class LargeAnswers {
  readonly #options: Required<LargeAnswersOptions>;
  readonly #takers = new Map<string, Taker>();

  constructor(options: LargeAnswersOptions = {}) {
    this.#options = { maxAtWork: 8, maxUntaken: 4, maxWaiting: 1_000, maxWaitMs: 10_000, ...options };
  }

  /**
   * Waits for a slot. The caller must report the answer's length to the slot, and that the client has read it or
   * disconnected.
   */
  async begin(userId: string): Promise<{ made(bytes: number): void; taken(): void }> {
    const taker = this.#takers.get(userId) ?? { atWork: 0, untaken: 0, waiting: [] };
    this.#takers.set(userId, taker);
    if (this.#isFull(taker)) await this.#wait(taker);
    else taker.atWork += 1;
    let isLarge = false;
    return {
      made: (bytes) => {
        isLarge = bytes >= largeBytes;
        taker.atWork -= 1;
        if (isLarge) taker.untaken += 1;
        this.#resume(userId, taker);
      },
      taken: () => {
        if (!isLarge) return;
        isLarge = false;
        taker.untaken -= 1;
        this.#resume(userId, taker);
      },
    };
  }

  #isFull({ atWork, untaken }: Taker): boolean {
    // A running request may produce a large answer.
    return atWork >= this.#options.maxAtWork || (untaken > 0 && atWork + untaken >= this.#options.maxUntaken);
  }

  async #wait(taker: Taker): Promise<void> {
    const { maxWaiting, maxWaitMs } = this.#options;
    if (taker.waiting.length >= maxWaiting) throw tooManyAnswers();
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(late);
        resolve();
      };
      const late = setTimeout(() => {
        taker.waiting.splice(taker.waiting.indexOf(begin), 1);
        reject(tooManyAnswers());
      }, maxWaitMs);
      taker.waiting.push(begin);
    });
  }

  /** The slot is passed to the next waiter before anybody else can take it. */
  #resume(userId: string, taker: Taker): void {
    while (taker.waiting.length > 0 && !this.#isFull(taker)) {
      taker.atWork += 1;
      taker.waiting.shift()!();
    }
    if (taker.atWork === 0 && taker.untaken === 0 && taker.waiting.length === 0) this.#takers.delete(userId);
  }
}

function tooManyAnswers(): Fault {
  return new Fault(
    "too-many",
    "too_many_answers",
    "Too many large responses to you are unread. Read them, or cancel those requests; then try again.",
  );
}
