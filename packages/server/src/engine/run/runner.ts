import type { RunDeps } from "./run-deps.ts";
import { Run } from "./run.ts";

/** Observes runs. */
export interface RunListener {
  /** Called when a run starts; the returned object is disposed when all its work has ended. */
  onBegin(): Disposable;
  /** Called right after the disposal. */
  onEnd(): void;
}

/** The only place where runs start: while the log says `running`, exactly one run is active. */
export class Runner {
  readonly #deps: RunDeps;
  readonly #listener: RunListener;
  #run: Run | null = null;
  /**
   * The end of the log when a run failed and the store rejected that record: the next run would fail the same way.
   */
  #brokenAtSeq: number | null = null;

  constructor(deps: RunDeps, listener: RunListener) {
    this.#deps = deps;
    this.#listener = listener;
  }

  /** True until the last tool of a run has settled, and another agent has ended its turn. */
  get isAlive(): boolean {
    return this.#run !== null || this.#deps.acp?.isLive === true;
  }

  /** Also true after a pause, while work in progress finishes. */
  get isWorking(): boolean {
    return this.#run?.isWorking === true || this.#deps.acp?.isLive === true;
  }

  /** Actions with a running tool. */
  get executing(): ReadonlySet<string> {
    return this.#run?.executing ?? noActions;
  }

  /** The last `seq` of the current model request; 0 without one. */
  get beingReadSeq(): number {
    return this.#run?.beingReadSeq ?? 0;
  }

  /** The partial text of the current answer. */
  get answerText(): string {
    return this.#deps.acp?.text || (this.#run?.answerText ?? "");
  }

  abort(): void {
    this.#run?.abort();
    this.#deps.acp?.abort();
  }

  leave(): void {
    this.#run?.leave();
    this.#deps.acp?.leave();
  }

  /** Resolves when the current run, if any, has ended. */
  async ended(): Promise<void> {
    await this.#run?.ended;
    await this.#deps.acp?.ended();
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
    // A command may have set the status to `running` again while the last step settled.
    void this.#deps.queue.afterAll(() => this.ensure());
  }
}

const noActions: ReadonlySet<string> = new Set();
