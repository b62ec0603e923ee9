import { LeaseLostError, SeqConflictError } from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import { Mailbox } from "../lib/mailbox.ts";
import type { Activity } from "../lib/watchdog.ts";
import { conversationClosing, OwnedElsewhere } from "./refusals.ts";

/** Id of the conversation. */
export interface QueueOwner {
  /** True while a closing run may still record the result of its tool. */
  isSettling(): boolean;
  /** Called after each successful job while the conversation is open. */
  onDone(): void;
  /** Called once when another process took the conversation over. */
  onLost(): void;
}

export type WorkQueueDeps = {
  /** Of the conversation. */
  readonly id: string;
  readonly owner: QueueOwner;
  readonly clock: Clock;
  /** Reports the conversation of the current job. */
  readonly activity: Pick<Activity, "turnTo">;
};

/** The mailbox of one conversation: runs jobs one after another, none once another process owns the log. */
export class WorkQueue {
  readonly #deps: WorkQueueDeps;
  readonly #mailbox = new Mailbox();
  #isClosing = false;
  #isLost = false;
  #openJobs = 0;
  #lastUsedMs: number;

  constructor(deps: WorkQueueDeps) {
    this.#deps = deps;
    this.#lastUsedMs = deps.clock.nowMs();
  }

  /** Epoch milliseconds of the last job. */
  get lastUsedMs(): number {
    return this.#lastUsedMs;
  }

  /** True while a job waits or runs, and while somebody holds a {@link use}. */
  get isInUse(): boolean {
    return this.#openJobs > 0;
  }

  /** True once no new work may begin. */
  get isOver(): boolean {
    return this.#isClosing || this.#isLost;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Counts as work until it is disposed. */
  use(): Disposable {
    this.#openJobs += 1;
    return { [Symbol.dispose]: () => (this.#openJobs -= 1) };
  }

  /** Runs a job after all earlier ones; everything that reads or writes the log happens in one. */
  post<Result>(job: () => Promise<Result> | Result): Promise<Result> {
    const { activity, clock, id, owner } = this.#deps;
    this.#lastUsedMs = clock.nowMs();
    const use = this.use();
    return this.#mailbox.post(async () => {
      try {
        if (this.#isLost || (this.#isClosing && !owner.isSettling())) throw conversationClosing();
        activity.turnTo(id);
        const result = await job();
        if (!this.#isClosing) owner.onDone();
        return result;
      } catch (error) {
        if (!(error instanceof LeaseLostError || error instanceof SeqConflictError)) throw error;
        if (this.lose()) owner.onLost();
        throw new OwnedElsewhere(null);
      } finally {
        use[Symbol.dispose]();
      }
    });
  }

  /** Runs a job that does not touch the log, whatever has become of the conversation. */
  async afterAll(job: () => void): Promise<void> {
    await this.#mailbox.post(job);
  }

  /** Accepts no more jobs from outside. */
  close(): void {
    this.#isClosing = true;
  }

  /** Resolves when all jobs queued so far have run; followers of the log are notified first. */
  async settled(): Promise<void> {
    await this.afterAll(() => {});
  }

  async drain(): Promise<void> {
    await this.#mailbox.drain();
  }

  /** Another process owns this log: ends this object; the conversation continues there. False if that was known. */
  lose(): boolean {
    const isNew = !this.#isLost;
    this.#isLost = true;
    return isNew;
  }
}
