import { fullStateFrame } from "./state/conversation-info.ts";
import { liveStatusFrame } from "./state/live-status.ts";
import type { Runner } from "./run/runner.ts";
import type { SharedParts } from "./shared-parts.ts";
import type { Signals } from "./signals.ts";

export type PublishedStateDeps = Pick<SharedParts, "clock" | "configuration" | "id" | "log" | "queue"> & {
  readonly runner: Pick<Runner, "beingReadSeq">;
  readonly signals: Signals;
};

/** The published state of a conversation, as sockets send it. */
export class PublishedState {
  readonly #deps: PublishedStateDeps;

  constructor(deps: PublishedStateDeps) {
    this.#deps = deps;
  }

  /** Sends the full state to all current subscribers; not stored. */
  publish(): void {
    const { queue, signals } = this.#deps;
    // After a take-over this state is stale, and subscribers have newer events (P36).
    if (signals.hasListeners && !queue.isLost) signals.emit(this.fullFrame());
  }

  /** The full state, which sockets send first. */
  fullFrame(): string {
    const { clock, configuration, id, log } = this.#deps;
    const { config, secrets } = configuration;
    return log.mask(fullStateFrame(config, secrets, log.state, id, clock.nowMs()));
  }

  /** See {@link liveStatusFrame}. */
  liveFrame(): string {
    const { log, runner } = this.#deps;
    return liveStatusFrame(log.state, runner.beingReadSeq);
  }
}
