import { follow, type FollowOptions } from "../journal/follow.ts";
import type { Journal, StoredEvent } from "../journal/journal.ts";
import type { Logger } from "../lib/logger.ts";
import { LogReader, type LogReaderOptions } from "../journal/log-reader.ts";
import { Signals, type ForwardedSignal, type Listener } from "../engine/signals.ts";

/**
 * A reader of one conversation, independent of its owner and of where its actor is (P63): it takes no lease, loads nothing, and
 * does not affect the owner.
 */
export type Watch = {
  readonly id: string;
  /** How the conversation stands now, as sockets send it first; null once it is gone. */
  fullStateFrame(): Promise<string | null>;
  /** What events do not tell of that, see `liveStatusFrame`; null once it is gone. */
  liveStatusFrame(): Promise<string | null>;
  /** The stored events behind a cursor, for ever, in order, each once. */
  follow(options: FollowOptions): AsyncIterable<readonly StoredEvent[]>;
  /** The same, until it is disposed of. */
  read(options: LogReaderOptions): LogReader;
  /**
   * What is shown and stored nowhere, while the actor is in this process or in one that forwards it. `onEnd` is called once when the conversation is deleted, by whichever
   * process. Returns the unsubscribe function.
   */
  listen(listener: Listener): () => void;
};

/** The current state of conversations as frames. */
export interface FrameSource {
  /** The first frame; null when there is no such conversation (any more). */
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

/** Who watches which conversation: they stay when its actor comes, goes, or lives in another process. */
export class Watches {
  readonly #deps: WatchesDeps;
  readonly #signals = new Map<string, Signals>();
  /** Where the logs are that somebody listens to here, as far as their rings tell. */
  readonly #lastSeqs = new Map<string, number>();
  /** One for all who listen to a conversation. */
  readonly #stopRings = new Map<string, () => void>();

  constructor(deps: WatchesDeps) {
    this.#deps = deps;
  }

  /** Where an actor's signals go, now and when it comes back. */
  signalsOf(id: string): Signals {
    const known = this.#signals.get(id) ?? new Signals();
    this.#signals.set(id, known);
    return known;
  }

  hasListeners(id: string): boolean {
    return this.#signals.get(id)?.hasListeners === true;
  }

  /** For another server, which has checked its reader's access. Returns the unsubscribe function. */
  forward(id: string, onForward: (signal: ForwardedSignal) => void): () => void {
    const stop = this.signalsOf(id).subscribe({ onForward });
    return () => {
      stop();
      this.tidy(id);
    };
  }

  /** A signal of another server, made when the log was at `atSeq`; what came later than an event that follows it is of no use. */
  receive(id: string, signal: ForwardedSignal, atSeq: number | null): void {
    if (atSeq !== null && atSeq < (this.#lastSeqs.get(id) ?? 0)) return;
    this.#signals.get(id)?.emitForwarded(signal);
  }

  /** The conversation is deleted: notifies its watchers. */
  end(id: string): void {
    const signals = this.#signals.get(id);
    this.#signals.delete(id);
    // What is made under this id later may be somebody else's, and begins with an empty log.
    this.#forgetRings(id);
    signals?.end();
  }

  /** Forgets what nobody speaks or listens to any more. */
  tidy(id: string): void {
    if (this.hasListeners(id)) return;
    this.#forgetRings(id);
    if (!this.#deps.frames.isLoaded(id)) this.#signals.delete(id);
  }

  open(userId: string, id: string): Watch {
    return new ConversationWatch(this, this.#deps, userId, id);
  }

  listen(userId: string, id: string, listener: Listener): () => void {
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

  /** A log only grows: a shorter one, or none, is that of a conversation which another process has deleted. */
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

class ConversationWatch implements Watch {
  readonly id: string;
  readonly #watches: Watches;
  readonly #deps: WatchesDeps;
  readonly #userId: string;

  constructor(watches: Watches, deps: WatchesDeps, userId: string, id: string) {
    this.id = id;
    this.#watches = watches;
    this.#deps = deps;
    this.#userId = userId;
  }

  async fullStateFrame(): Promise<string | null> {
    return await this.#deps.frames.fullStateFrame(this.#userId, this.id);
  }

  async liveStatusFrame(): Promise<string | null> {
    return await this.#deps.frames.liveStatusFrame(this.#userId, this.id);
  }

  follow(options: FollowOptions): AsyncIterable<readonly StoredEvent[]> {
    return follow(this.#deps.journal, this.id, options);
  }

  read(options: LogReaderOptions): LogReader {
    return new LogReader(this.#deps.journal, this.id, options);
  }

  listen(listener: Listener): () => void {
    return this.#watches.listen(this.#userId, this.id, listener);
  }
}
