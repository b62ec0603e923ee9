import { LeaseLostError, SeqConflictError } from "../../journal/journal.ts";
import { Mailbox } from "../../lib/mailbox.ts";
import { conversationClosing, OwnedElsewhere } from "../refusals.ts";

export type WorkQueueDeps = {
  readonly nowMs: () => number;
  /** Called when a job begins. */
  readonly onTurn?: () => void;
  /** True while a run that is being closed may still record what its tool has done. */
  readonly isSettling: () => boolean;
  /** Called after each job that succeeded, as long as the conversation is open. */
  readonly onDone: () => void;
  /** Called once when another process took the conversation over. */
  readonly onLost: () => void;
};

/** The mailbox of one conversation: jobs one after another, none once the log belongs to somebody else. */
export class WorkQueue {
  readonly #deps: WorkQueueDeps;
  readonly #mailbox = new Mailbox();
  #isClosing = false;
  #isLost = false;
  #openJobs = 0;
  #lastUsedMs: number;

  constructor(deps: WorkQueueDeps) {
    this.#deps = deps;
    this.#lastUsedMs = deps.nowMs();
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
    this.#lastUsedMs = this.#deps.nowMs();
    const use = this.use();
    return this.#mailbox.post(async () => {
      try {
        if (this.#isLost || (this.#isClosing && !this.#deps.isSettling())) throw conversationClosing();
        this.#deps.onTurn?.();
        const result = await job();
        if (!this.#isClosing) this.#deps.onDone();
        return result;
      } catch (error) {
        if (!(error instanceof LeaseLostError || error instanceof SeqConflictError)) throw error;
        if (this.lose()) this.#deps.onLost();
        throw new OwnedElsewhere(null);
      } finally {
        use[Symbol.dispose]();
      }
    });
  }

  /** Runs a job that does not touch the log after all earlier ones, whatever has become of the conversation. */
  async afterAll(job: () => void): Promise<void> {
    await this.#mailbox.post(job);
  }

  /** No job from outside begins any more. */
  close(): void {
    this.#isClosing = true;
  }

  async drain(): Promise<void> {
    await this.#mailbox.drain();
  }

  /** The store has another owner for this log: this object ends, the conversation lives on there. False when that was known. */
  lose(): boolean {
    const isNew = !this.#isLost;
    this.#isLost = true;
    return isNew;
  }
}
