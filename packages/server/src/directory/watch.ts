import { follow, type FollowOptions } from "../journal/follow.ts";
import type { Journal, StoredEvent } from "../journal/journal.ts";
import type { Logger } from "../lib/logger.ts";
import { LogReader, type LogReaderOptions } from "../journal/log-reader.ts";
import { Signals, type ForwardedSignal, type Listener } from "../engine/signals.ts";

/**
 * A reader of one conversation, independent of its owner and of the location of its actor (P63): it takes no lease,
 * loads nothing and does not affect the owner.
 */
export type Watch = {
  readonly id: string;
  /** The current state, which sockets send first; null once it is deleted. */
  fullStateFrame(): Promise<string | null>;
  /** The live status, see `liveStatusFrame`; null once it is deleted. */
  liveStatusFrame(): Promise<string | null>;
  /** The stored events after a cursor, unbounded, in order, each once. */
  follow(options: FollowOptions): AsyncIterable<readonly StoredEvent[]>;
  /** The same, until the reader is disposed. */
  read(options: LogReaderOptions): LogReader;
  /**
   * Signals (not stored), while the actor is in this process or in one that forwards them. `onEnd` is called once
   * when the conversation is deleted by any process. Returns the unsubscribe function.
   */
  listen(listener: Listener): () => void;
};

/** The current state of conversations as frames. */
export interface FrameSource {
  /** The first frame; null if the conversation does not exist. */
  fullStateFrame(userId: string, id: string): Promise<string | null>;
  /** The same for `liveStatusFrame` of {@link Watch}. */
  liveStatusFrame(userId: string, id: string): Promise<string | null>;
  /** True while there is an actor in this process. */
  isLoaded(id: string): boolean;
}

export type WatchesDeps = {
  readonly journal: Pick<Journal, "read" | "onAppend">;
  readonly frames: FrameSource;
  readonly logger: Logger;
};

/** The watchers of conversations. They stay when the actor is loaded, evicted, or moves to another process. */
export class Watches {
  readonly #deps: WatchesDeps;
  readonly #signals = new Map<string, Signals>();
  /** Ends of the followed logs. */
  readonly #lastSeqs = new Map<string, number>();
  /** One channel for all watchers of a conversation. */
  readonly #stopRings = new Map<string, () => void>();

  constructor(deps: WatchesDeps) {
    this.#deps = deps;
  }

  /** Receives the signals of an actor, also of later actors of the same conversation. */
  signalsOf(id: string): Signals {
    const known = this.#signals.get(id) ?? new Signals();
    this.#signals.set(id, known);
    return known;
  }

  hasListeners(id: string): boolean {
    return this.#signals.get(id)?.hasListeners === true;
  }

  /** For another server, which has checked its reader's permission. Returns the unsubscribe function. */
  forward(id: string, onForward: (signal: ForwardedSignal) => void): () => void {
    const stop = this.signalsOf(id).subscribe({ onForward });
    return () => {
      stop();
      this.tidy(id);
    };
  }

  /**
   * A signal of another server, sent when its log was at `atSeq`; it is dropped if a later event was delivered
   * already.
   */
  receive(id: string, signal: ForwardedSignal, atSeq: number | null): void {
    if (atSeq !== null && atSeq < (this.#lastSeqs.get(id) ?? 0)) return;
    this.#signals.get(id)?.emitForwarded(signal);
  }

  /** Notifies the watchers that the conversation is deleted. */
  end(id: string): void {
    const signals = this.#signals.get(id);
    this.#signals.delete(id);
    // A new conversation under this id may have another owner, and starts with an empty log.
    this.#forgetRings(id);
    signals?.end();
  }

  /** Drops channels without actor and watchers. */
  tidy(id: string): void {
    if (this.hasListeners(id)) return;
    this.#forgetRings(id);
    if (!this.#deps.frames.isLoaded(id)) this.#signals.delete(id);
  }

  open(userId: string, id: string): Watch {
    const { journal, frames } = this.#deps;
    return {
      id,
      fullStateFrame: () => frames.fullStateFrame(userId, id),
      liveStatusFrame: () => frames.liveStatusFrame(userId, id),
      follow: (options) => follow(journal, id, options),
      read: (options) => new LogReader(journal, id, options),
      listen: (listener) => this.#listen(userId, id, listener),
    };
  }

  #listen(userId: string, id: string, listener: Listener): () => void {
    const stop = this.signalsOf(id).subscribe(listener);
    if (!this.#stopRings.has(id)) this.#stopRings.set(id, this.#watchLog(userId, id));
    return () => {
      stop();
      this.tidy(id);
    };
  }

  #forgetRings(id: string): void {
    this.#stopRings.get(id)?.();
    this.#stopRings.delete(id);
    this.#lastSeqs.delete(id);
  }

  /** A log only grows: if it is shorter or missing, another process has deleted the conversation. */
  #watchLog(userId: string, id: string): () => void {
    let highest = 0;
    return this.#deps.journal.onAppend(id, (lastSeq) => {
      if (lastSeq < highest || lastSeq === 0) void this.#endIfGone(userId, id);
      highest = lastSeq;
      this.#lastSeqs.set(id, lastSeq);
    });
  }

  async #endIfGone(userId: string, id: string): Promise<void> {
    try {
      if ((await this.#deps.frames.fullStateFrame(userId, id)) === null) this.end(id);
    } catch (error) {
      const fields = { conversation: id, error: String(error) };
      this.#deps.logger.error(fields, "a conversation could not be looked up");
    }
  }
}
