import type { ConversationState } from "../state/conversation-state.ts";

/** A shorter run may end before some clients subscribe. */
const quickMs = 1_000;
/** Delay before the state is published again. */
const againMs = 1_000;

export type RunEndDeps = {
  readonly log: { readonly state: Pick<ConversationState, "lastUserMessageId" | "status"> };
  readonly published: { publish(): void };
};

/**
 * Publishes the state of a conversation when a run has ended. After a short run it publishes once more if nothing
 * has happened since: the Python SDK accepts a final state only after its thread has passed the request that started
 * the run, and else waits for 30 seconds. Its garbage collection alone can delay it by 0.4 seconds.
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

  /** Changes with each newer message or status. */
  #version(): string {
    const { status, lastUserMessageId } = this.#deps.log.state;
    return `${status} ${lastUserMessageId}`;
  }
}
