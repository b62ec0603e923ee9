import { describeError } from "./describe-error.ts";
import { withinMs } from "./within.ts";
import type { Tool, ToolContext, ToolInstance } from "./tool.ts";

/**
 * The queue in front of one tool of one session: opens the tool at first use and lets one call in at a time, in order.
 * Calls of a tool that only reads do not wait for each other.
 */
export class ToolLane implements AsyncDisposable {
  readonly #tool: Tool;
  readonly #context: ToolContext;
  readonly #onWarning: (text: string) => void;
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;
  #instance: Promise<ToolInstance> | undefined;
  readonly #abandoned = new Set<Promise<void>>();

  constructor(deps: {
    readonly tool: Tool;
    readonly context: ToolContext;
    readonly onWarning: (text: string) => void;
  }) {
    this.#tool = deps.tool;
    this.#context = deps.context;
    this.#onWarning = deps.onWarning;
  }

  /** Resolves when it is this call's turn; call the returned function when the call has ended. Rejects with the signal's reason. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#tool.isReadOnly) return () => {};
    if (!this.#isTaken) {
      this.#isTaken = true;
      return () => this.#leave();
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(proceed), 1);
        reject(signal.reason as Error);
      };
      const proceed = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve(() => this.#leave());
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(proceed);
    });
  }

  /** The opened tool; a failed opening is tried again by the next call. */
  async instance(): Promise<ToolInstance> {
    const opening = (this.#instance ??= this.#tool.open(this.#context));
    try {
      return await opening;
    } catch (error) {
      if (this.#instance === opening) this.#instance = undefined;
      throw error;
    }
  }

  /** Gives up on an instance whose call does not end: it is closed in the background and the next call opens a new one. */
  abandon(): void {
    const opening = this.#instance;
    if (opening === undefined) return;
    this.#instance = undefined;
    const closing = this.#close(opening).finally(() => this.#abandoned.delete(closing));
    this.#abandoned.add(closing);
  }

  /** Closes the instance and those given up on; resolves after `closeLimitMs` at the latest. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.abandon();
    await Promise.all(this.#abandoned);
  }

  /** An instance that fails to close, or takes too long, may not hold up the session's end. */
  async #close(opening: Promise<ToolInstance>): Promise<void> {
    const closing = opening.then(
      (instance) => instance[Symbol.asyncDispose]().then(() => true),
      () => true, // A tool that never opened has nothing to close; its caller saw the error.
    );
    try {
      const isClosed = await withinMs(closing, closeLimitMs);
      if (isClosed !== true)
        this.#onWarning(`The tool ${this.#tool.name} did not close within ${closeLimitMs} ms.`);
    } catch (error) {
      this.#onWarning(`The tool ${this.#tool.name} failed to close: ${describeError(error)}`);
    }
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }
}

const closeLimitMs = 5_000;
