import type { RunDeps } from "./run-deps.ts";
import { Run } from "./run.ts";

/** Told of each run. */
export interface RunListener {
  /** A run begins; what is returned is disposed when nothing of it is in progress any more. */
  onBegin(): Disposable;
  /** Called right after that. */
  onEnd(): void;
}

/** The one place where work starts: whenever the log says `running`, exactly one run is alive. */
export class Runner {
  readonly #deps: RunDeps;
  readonly #listener: RunListener;
  #run: Run | null = null;
  /** Where the log stood when a run failed and the storage did not even take that: the next one would fail alike. */
  #brokenAtSeq: number | null = null;

  constructor(deps: RunDeps, listener: RunListener) {
    this.#deps = deps;
    this.#listener = listener;
  }

  /** True until the last tool of a run has settled. */
  get isAlive(): boolean {
    return this.#run !== null;
  }

  /** Also true after a pause, while work in progress finishes. */
  get isWorking(): boolean {
    return this.#run?.isWorking === true;
  }

  /** The actions that tools work on at this moment. */
  get executing(): ReadonlySet<string> {
    return this.#run?.executing ?? noActions;
  }

  /** Up to here the model reads at this moment; 0 when it is not asked. */
  get beingReadSeq(): number {
    return this.#run?.beingReadSeq ?? 0;
  }

  /** The text of the answer in progress. */
  get answerText(): string {
    return this.#run?.answerText ?? "";
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
    const { earlier, hold, log, queue } = this.#deps;
    if (queue.isOver || hold.isOn || earlier.isUnsettled) return;
    if (this.#run !== null || log.state.status !== "running") return;
    if (this.#brokenAtSeq === log.state.lastSeq) return;
    const begun = this.#listener.onBegin();
    const run = new Run(this.#deps);
    this.#run = run;
    void run.ended.then(() => {
      begun[Symbol.dispose]();
      this.#onEnded(run);
    });
  }

  #onEnded(run: Run): void {
    this.#run = null;
    if (run.isUnrecorded) this.#brokenAtSeq = this.#deps.log.state.lastSeq;
    this.#listener.onEnd();
    // A command may have made the log `running` again while the last step settled.
    void this.#deps.queue.afterAll(() => this.ensure());
  }
}

const noActions: ReadonlySet<string> = new Set();
