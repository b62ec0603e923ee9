import type { ConversationLog } from "../conversation-log.ts";
import type { RunDeps } from "./run-deps.ts";
import { Run } from "./run.ts";
import type { WorkQueue } from "./work-queue.ts";

export type RunnerDeps = {
  readonly log: ConversationLog;
  readonly queue: Pick<WorkQueue, "isOver" | "afterAll">;
  /** What a new run works with, see {@link RunDeps}. */
  readonly runDeps: () => RunDeps;
  readonly isHeld: () => boolean;
  /** Called when a run begins; disposed when it has ended. */
  readonly begin?: () => Disposable | undefined;
  /** Called when nothing of a run is in progress any more. */
  readonly onEnded: () => void;
};

/** The one place where work starts: whenever the log says `running`, exactly one run is alive. */
export class Runner {
  readonly #deps: RunnerDeps;
  #run: Run | null = null;
  /** Where the log stood when a run failed and the storage did not even take that: the next one would fail alike. */
  #brokenAtSeq: number | null = null;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  /** True until the last tool of a run has settled. */
  get isAlive(): boolean {
    return this.#run !== null;
  }

  /** True also after a pause, while what was in progress goes on to its end. */
  get isWorking(): boolean {
    return this.#run?.isWorking === true;
  }

  /** The actions that tools work on at this moment. */
  get executing(): ReadonlySet<string> | undefined {
    return this.#run?.executing;
  }

  /** Up to here the model reads at this moment; 0 when it is not asked. */
  get beingReadSeq(): number {
    return this.#run?.beingReadSeq ?? 0;
  }

  /** What the model has said of the answer in progress. */
  get said(): string {
    return this.#run?.said ?? "";
  }

  abort(): void {
    this.#run?.abort();
  }

  leave(): void {
    this.#run?.leave();
  }

  /** Resolves when the run that is alive now, if one is, has ended. */
  async ended(): Promise<void> {
    await this.#run?.ended;
  }

  ensure(): void {
    const { log, queue, isHeld, runDeps } = this.#deps;
    if (queue.isOver || isHeld()) return;
    if (this.#run !== null || log.state.status !== "running") return;
    if (this.#brokenAtSeq === log.state.lastSeq) return;
    const begun = this.#deps.begin?.();
    const run = new Run(runDeps());
    this.#run = run;
    void run.ended.then(() => {
      begun?.[Symbol.dispose]();
      this.#onEnded(run);
    });
  }

  #onEnded(run: Run): void {
    this.#run = null;
    if (run.isUnrecorded) this.#brokenAtSeq = this.#deps.log.state.lastSeq;
    this.#deps.onEnded();
    // A command may have made the log `running` again while the last step settled.
    void this.#deps.queue.afterAll(() => this.ensure());
  }
}
