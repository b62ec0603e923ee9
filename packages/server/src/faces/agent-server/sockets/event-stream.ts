import type { Listener } from "../../../engine/signals.ts";
import type { Watch } from "../../../directory/watch.ts";
import { PieceBeat } from "./chunk-batches.ts";
import type { SocketOutput } from "./socket-output.ts";
import { StandingOutput } from "./live-status-output.ts";

/** What a client gets besides the stored events. */
export type WantedSignals = {
  readonly wantsItems: boolean;
  readonly wantsProgress: boolean;
  readonly wantsStanding: boolean;
  /** Milliseconds; 0 sends each piece of an answer by itself. */
  readonly beatMs: number;
};

export type EventStreamDeps = WantedSignals & {
  readonly watch: Watch;
  readonly output: SocketOutput;
  /** The conversation is not there (any more). */
  readonly sendAway: () => void;
};

/** What one client of a conversation gets: its state first, then its events, and between them what is shown and stored nowhere. */
export class EventStream implements Listener, Disposable {
  readonly wantsItems: boolean;
  readonly onProgress: ((json: string) => void) | null;
  readonly onEnd: () => void;
  readonly #watch: Watch;
  readonly #output: SocketOutput;
  readonly #standing: StandingOutput | null;
  readonly #beat: PieceBeat | null;
  readonly #stopListening: () => void;
  #hasState = false;

  constructor({ watch, output, sendAway, ...wanted }: EventStreamDeps) {
    const { wantsItems, wantsProgress, wantsStanding, beatMs } = wanted;
    this.#watch = watch;
    this.#output = output;
    this.wantsItems = wantsItems;
    this.onEnd = sendAway;
    this.onProgress = wantsProgress ? (json) => this.#hasState && output.offer(json, true) : null;
    this.#standing = wantsStanding ? new StandingOutput(watch, output) : null;
    this.#beat = beatMs === 0 ? null : new PieceBeat(output, beatMs);
    this.#stopListening = watch.listen(this);
  }

  /** Until the client is gone. */
  async send(afterSeq: number): Promise<void> {
    const state = await this.#watch.fullStateFrame();
    if (state === null) {
      this.onEnd();
      return;
    }
    this.#output.offer(state);
    this.#hasState = true;
    await this.#standing?.tell();
    using reader = this.#watch.read({ afterSeq });
    this.#output.hold(reader);
    for (let events = await reader.next(); events !== null; events = await reader.next()) {
      this.#beat?.flush();
      if (!(await this.#output.send(events))) return;
      await this.#standing?.tell();
    }
  }

  /** The state comes first, and is newer than what was shown before it. */
  onSignal(json: string): void {
    if (!this.#hasState) return;
    this.#beat?.flush();
    this.#output.offer(json);
  }

  onPiece(json: string): void {
    if (this.#beat === null) this.onSignal(json);
    else if (this.#hasState) this.#beat.offer(json);
  }

  onChange(): void {
    // What fails here fails again, and is told, with the next event.
    if (this.#hasState) this.#standing?.tell().catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#stopListening();
    this.#beat?.[Symbol.dispose]();
    this.#standing?.[Symbol.dispose]();
  }
}
