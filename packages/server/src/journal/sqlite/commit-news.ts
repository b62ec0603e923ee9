import { Doorbell } from "../doorbell.ts";
import type { AppendBatch, Commit, StoredEvent } from "../journal.ts";
import { CommitWatch, type CommitWatchDeps } from "./commit-watch.ts";
import { TailCache } from "../tail-cache.ts";
import type { TextIndexing } from "./texts/indexing.ts";
import { Listeners } from "../../lib/listeners.ts";

export type CommitNewsDeps = Pick<CommitWatchDeps, "readVersion" | "readLastSeq"> & {
  readonly indexing: Pick<TextIndexing, "noteChange">;
};

/** Publishes commits to those who wait at the end of a log, to listeners of all commits, and to the text index. */
export class CommitNews implements Disposable {
  readonly #deps: CommitNewsDeps;
  readonly #doorbell = new Doorbell();
  readonly #listeners = new Listeners<Commit>();
  readonly #tails = new TailCache();
  readonly #watch: CommitWatch;

  constructor(deps: CommitNewsDeps) {
    this.#deps = deps;
    this.#watch = new CommitWatch({
      doorbell: this.#doorbell,
      readVersion: deps.readVersion,
      readLastSeq: deps.readLastSeq,
      tails: this.#tails,
    });
  }

  appended(conversationId: string, batch: AppendBatch, startMs: number): void {
    const lastSeq = batch.expectedSeq + batch.events.length;
    if (this.#doorbell.has(conversationId)) this.#tails.add(conversationId, batch.expectedSeq, batch.events);
    this.#watch.onOwnAppend(conversationId, lastSeq);
    this.#doorbell.ring(conversationId, lastSeq);
    this.#emit("appended", conversationId, lastSeq, startMs);
  }

  created(conversationId: string, startMs: number): void {
    this.#emit("created", conversationId, 0, startMs);
  }

  marked(conversationId: string, startMs: number): void {
    this.#emit("marked", conversationId, 0, startMs);
  }

  deleted(conversationId: string, startMs: number): void {
    this.#tails.forget(conversationId);
    this.#emit("deleted", conversationId, 0, startMs);
  }

  /** What was appended last, as far as somebody waits for it; null when it has to be read. */
  readTail(conversationId: string, afterSeq: number, limit: number): readonly StoredEvent[] | null {
    return this.#tails.read(conversationId, afterSeq, limit);
  }

  onAppend(conversationId: string, onRing: (lastSeq: number) => void): () => void {
    const stop = this.#doorbell.listen(conversationId, onRing);
    this.#watch.watch(conversationId);
    return () => {
      stop();
      if (!this.#doorbell.has(conversationId)) this.#tails.forget(conversationId);
    };
  }

  pollNow(conversationId: string): void {
    this.#watch.check(conversationId);
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    return this.#listeners.add(listener);
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
  }

  #emit(type: Commit["type"], conversationId: string, lastSeq: number, startMs: number): void {
    // An empty log has nothing to be found.
    if (type === "appended" || type === "deleted") this.#deps.indexing.noteChange(conversationId);
    const commit: Commit = { type, conversationId, lastSeq, durationMs: performance.now() - startMs };
    this.#listeners.emit(commit);
  }
}
