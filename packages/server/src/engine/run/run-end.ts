import type { ConversationState } from "../state/conversation-state.ts";

/** A run that ends sooner than this is over before some clients listen for its end. */
const quickMs = 1_000;
/** Delay before the state is published again. */
const againMs = 1_000;

export type RunEndDeps = {
  readonly log: { readonly state: Pick<ConversationState, "lastUserMessageId" | "status"> };
  readonly published: { publish(): void };
};

/**
 * Tells how a conversation stands when a run has ended. After a quick run it does so once more, if nothing has happened
 * since: the Python SDK takes a state for the end of its run only after its thread has gone on behind the request that began
 * the run, and waits for 30 seconds when the run was faster. Its collector of garbage alone can hold it for 0.4 seconds.
 */
export class RunEnd implements Disposable {
  readonly #deps: RunEndDeps;
  #begunMs = 0;
  #again: NodeJS.Timeout | null = null;

  constructor(deps: RunEndDeps) {
    this.#deps = deps;
  }

  begin(): void {
    this[Symbol.dispose]();
    this.#begunMs = performance.now();
  }

  publish(): void {
    const { published } = this.#deps;
    published.publish();
    if (performance.now() - this.#begunMs >= quickMs) return;
    const before = this.#version();
    this.#again = setTimeout(() => {
      if (this.#version() === before) published.publish();
    }, againMs).unref();
  }

  [Symbol.dispose](): void {
    if (this.#again !== null) clearTimeout(this.#again);
    this.#again = null;
  }

  /** Differs as soon as there is a newer message or another status. */
  #version(): string {
    const { status, lastUserMessageId } = this.#deps.log.state;
    return `${status} ${lastUserMessageId}`;
  }
}
