import type { Listener } from "../../../engine/signals.ts";
import type { Watch } from "../../../directory/watch.ts";
import type { StoredEvent } from "../../../journal/journal.ts";
import { ChunkBatches } from "./chunk-batches.ts";
import type { SocketOutput } from "./socket-output.ts";
import { LiveStatusOutput } from "./live-status-output.ts";

/** The signals that a client requests besides the stored events. */
export type WantedSignals = {
  readonly wantsItems: boolean;
  readonly wantsProgress: boolean;
  readonly wantsLiveStatus: boolean;
  /** Milliseconds; 0 sends each chunk of an answer by itself. */
  readonly batchMs: number;
};

export type EventStreamDeps = WantedSignals & {
  readonly watch: Watch;
  readonly output: SocketOutput;
  /** The conversation does not exist, or was deleted. */
  readonly onEvicted: () => void;
  /** What the client gets of an event, for one that does not get all of it. */
  readonly toShown?: (json: string) => string;
};

/** The stream for one client of a conversation: its state, then its events, with unstored signals between them. */
export class EventStream implements Listener, Disposable {
  readonly wantsItems: boolean;
  readonly onProgress: ((json: string) => void) | null;
  readonly onEnd: () => void;
  readonly #watch: Watch;
  readonly #output: SocketOutput;
  readonly #liveStatus: LiveStatusOutput | null;
  readonly #batches: ChunkBatches | null;
  readonly #stopListening: () => void;
  readonly #toShown: ((json: string) => string) | null;
  #hasState = false;

  constructor({ watch, output, onEvicted, toShown, ...wanted }: EventStreamDeps) {
    const { wantsItems, wantsProgress, wantsLiveStatus, batchMs } = wanted;
    this.#watch = watch;
    this.#output = output;
    this.wantsItems = wantsItems;
    this.onEnd = onEvicted;
    this.onProgress = wantsProgress ? (json) => this.#hasState && output.offer(json, true) : null;
    this.#liveStatus = wantsLiveStatus ? new LiveStatusOutput(watch, output) : null;
    this.#batches = batchMs === 0 ? null : new ChunkBatches(output, batchMs);
    this.#toShown = toShown ?? null;
    this.#stopListening = watch.listen(this);
  }

  /** Resolves when the client has disconnected. */
  async send(afterSeq: number): Promise<void> {
    const state = await this.#watch.fullStateFrame();
    if (state === null) {
      this.onEnd();
      return;
    }
    this.#output.offer(this.#toShown?.(state) ?? state);
    this.#hasState = true;
    await this.#liveStatus?.publish();
    using reader = this.#watch.read({ afterSeq });
    this.#output.hold(reader);
    for (let events = await reader.next(); events !== null; events = await reader.next()) {
      this.#batches?.flush();
      if (!(await this.#output.send(this.#shown(events)))) return;
      await this.#liveStatus?.publish();
    }
  }

  /** The state is sent first: it is newer than earlier signals. */
  onSignal(json: string): void {
    if (!this.#hasState) return;
    this.#batches?.flush();
    this.#output.offer(this.#toShown?.(json) ?? json);
  }

  onDelta(json: string): void {
    if (this.#batches === null) this.onSignal(json);
    else if (this.#hasState) this.#batches.offer(json);
  }

  onChange(): void {
    // A failure here is repeated, and reported, with the next event.
    if (this.#hasState) this.#liveStatus?.publish().catch(() => {});
  }

  /** The same list where nothing is left out, because its frames are encoded once for all. */
  #shown(events: readonly StoredEvent[]): readonly StoredEvent[] {
    const toShown = this.#toShown;
    return toShown === null ? events : events.map((event) => ({ ...event, json: toShown(event.json) }));
  }

  [Symbol.dispose](): void {
    this.#stopListening();
    this.#batches?.[Symbol.dispose]();
    this.#liveStatus?.[Symbol.dispose]();
  }
}
