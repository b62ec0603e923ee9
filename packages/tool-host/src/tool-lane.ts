import type { Action } from "@convoke/protocol";
import { describeError } from "./describe-error.ts";
import { withinMs } from "./within.ts";
import type { AttachBrowser } from "./browser-attachment.ts";
import type { AttachTerminal } from "./terminal-attachment.ts";
import type { TerminalInfo, Tool, ToolContext, ToolInstance, ToolSet } from "./tool.ts";

/**
 * The queue in front of one tool of one session: opens the tool on first use and runs one call at a time, in order. Calls of a
 * read-only tool do not wait for each other; those of a tool set do, unless it has several queues.
 */
export class ToolLane implements AsyncDisposable {
  readonly #tool: Tool | ToolSet;
  readonly #context: ToolContext;
  readonly #onWarning: (text: string) => void;
  /** By queue with a running call: the waiting calls. */
  readonly #queues = new Map<string, (() => void)[]>();
  #instance: Promise<ToolInstance> | undefined;
  readonly #abandoned = new Set<Promise<void>>();

  constructor(deps: {
    readonly tool: Tool | ToolSet;
    readonly context: ToolContext;
    readonly onWarning: (text: string) => void;
  }) {
    this.#tool = deps.tool;
    this.#context = deps.context;
    this.#onWarning = deps.onWarning;
  }

  /** Resolves when it is this call's turn; call the returned function at the end of the call. Rejects with the signal's reason. */
  async enter(signal: AbortSignal, name: string, action: Action): Promise<() => void> {
    signal.throwIfAborted();
    const queue = this.#queueOf(name, action);
    if (queue === null) return () => {};
    const waiting = this.#queues.get(queue);
    if (waiting === undefined) {
      this.#queues.set(queue, []);
      return () => this.#leave(queue);
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        waiting.splice(waiting.indexOf(proceed), 1);
        reject(signal.reason as Error);
      };
      const proceed = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve(() => this.#leave(queue));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      waiting.push(proceed);
    });
  }

  /** The terminals of the instance; none when it is not open. */
  async terminals(): Promise<readonly TerminalInfo[]> {
    // A tool that could not be opened has none; its caller saw the error.
    const instance = await this.#instance?.catch(() => undefined);
    return instance?.terminals?.() ?? [];
  }

  /** Attaches a person to a terminal of this tool; undefined when there is none of this name. */
  async terminal(name: string): Promise<AttachTerminal | undefined> {
    const isThis = "terminal" in this.#tool && this.#tool.terminal === name;
    const instance = isThis ? await this.instance() : await this.#instance?.catch(() => undefined);
    return instance?.terminal?.(name);
  }

  /** Attaches a person to the browser of this tool; undefined when it has none. Rejects when the tool cannot be opened. */
  async browser(): Promise<AttachBrowser | undefined> {
    if (!("hasBrowser" in this.#tool)) return undefined;
    return (await this.instance()).browser;
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

  /** Abandons an instance whose call does not end: it is closed in the background, and the next call opens a new one. */
  abandon(): void {
    const opening = this.#instance;
    if (opening === undefined) return;
    this.#instance = undefined;
    const closing = this.#close(opening).finally(() => this.#abandoned.delete(closing));
    this.#abandoned.add(closing);
  }

  /** Closes the instance and the abandoned ones; resolves after `closeLimitMs` at the latest. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.abandon();
    await Promise.all(this.#abandoned);
  }

  /** An instance that fails to close, or takes too long, must not hold up the session's end. */
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

  #queueOf(name: string, action: Action): string | null {
    if ("isReadOnly" in this.#tool) return this.#tool.isReadOnly ? null : "";
    return this.#tool.queueOf === undefined ? "" : this.#tool.queueOf(name, action);
  }

  #leave(queue: string): void {
    const next = this.#queues.get(queue)?.shift();
    if (next === undefined) this.#queues.delete(queue);
    else next();
  }
}

const closeLimitMs = 5_000;
