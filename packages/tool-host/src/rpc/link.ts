import { withinMs } from "../within.ts";
import type { ClientConnection } from "./client-connection.ts";
import { ConnectionLostError, ToolHostRefusedError, ToolHostUnreachableError } from "./connection-errors.ts";

export type LinkDeps = {
  /** Makes one attempt. */
  readonly open: () => Promise<ClientConnection>;
  /** For messages. */
  readonly address: string;
  /** How long callers wait for a host that is away, counted from when it left. */
  readonly unavailableMs: number;
};

/** One host over many connections: comes back by itself, and lets requests outlive the connection they began on. */
export class Link {
  readonly #deps: LinkDeps;
  #connection: ClientConnection | undefined;
  #unavailableSinceMs = performance.now();
  /** Settles with the result of the attempt that is under way, or comes next. */
  #attempt = Promise.withResolvers<ClientConnection | Error>();
  #wake = (): void => {};
  #isClosed = false;

  constructor(deps: LinkDeps) {
    this.#deps = deps;
    void this.#restore();
  }

  get isConnected(): boolean {
    return this.#connection?.isOpen === true;
  }

  /**
   * The open connection. Waits for a host that is away until its time is over; after that each caller gets one more attempt.
   * Rejects with ToolHostUnreachableError or ToolHostRefusedError.
   */
  async connection(): Promise<ClientConnection> {
    if (performance.now() - this.#unavailableSinceMs >= this.#deps.unavailableMs) this.#wake();
    for (;;) {
      if (this.#isClosed) throw new ToolHostUnreachableError("The connection to the tool host was closed.");
      if (this.#connection?.isOpen === true) return this.#connection;
      const remainingMs = this.#unavailableSinceMs + this.#deps.unavailableMs - performance.now();
      const result = await withinMs(this.#attempt.promise, Math.max(remainingMs, lastAttemptMs));
      if (result instanceof ToolHostRefusedError) throw result;
      const isOver = performance.now() - this.#unavailableSinceMs >= this.#deps.unavailableMs;
      if (this.#connection === undefined && !this.#isClosed && (result === undefined || isOver)) {
        throw new ToolHostUnreachableError(this.#describeAbsence(result));
      }
    }
  }

  /**
   * Runs a task on the open connection, and again on the next one when the connection breaks under it; so the task must be
   * safe to repeat. Gives up on a host that restarts again and again, or drops every connection.
   */
  async run<Result>(task: (connection: ClientConnection) => Promise<Result>): Promise<Result> {
    const boots = new Set<string>();
    let quickLosses = 0;
    for (;;) {
      const connection = await this.connection();
      boots.add(connection.welcome.bootId);
      const startedAtMs = performance.now();
      try {
        return await task(connection);
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error;
        quickLosses = performance.now() - startedAtMs < quickLossMs ? quickLosses + 1 : 0;
        if (boots.size < maxBoots && quickLosses < maxQuickLosses) continue;
        throw new ToolHostUnreachableError(
          boots.size < maxBoots
            ? `The tool host at ${this.#deps.address} drops every connection.`
            : `The tool host restarted ${boots.size - 1} times during this call.`,
          { cause: error },
        );
      }
    }
  }

  /** Everything under way fails, nothing new begins. */
  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
    this.#wake();
    this.#attempt.resolve(new ToolHostUnreachableError("The connection to the tool host was closed."));
  }

  /** Attempts until one succeeds, at growing intervals; never rejects. */
  async #restore(): Promise<void> {
    for (let failures = 0; !this.#isClosed; failures += 1) {
      if (failures > 0) await this.#pause(Math.min(firstPauseMs * 2 ** (failures - 1), lastPauseMs));
      if (this.#isClosed) return;
      const attempt = this.#attempt;
      const result = await this.#deps.open().catch((error: unknown) => error as Error);
      if (!(result instanceof Error)) this.#adopt(result);
      this.#attempt = Promise.withResolvers();
      attempt.resolve(result);
      if (result instanceof Error) continue;
      const openedAtMs = performance.now();
      await result.lost;
      this.#connection = undefined;
      this.#unavailableSinceMs = performance.now();
      // A connection that lasted is restored at once, one that did not after a short pause.
      failures = this.#unavailableSinceMs - openedAtMs < quickLossMs ? Math.min(failures, 1) : -1;
    }
  }

  #adopt(connection: ClientConnection): void {
    if (this.#isClosed) connection.close();
    else this.#connection = connection;
  }

  /** Ends early when a caller wants a connection and the host has been away for long. */
  async #pause(meanMs: number): Promise<void> {
    // Spread out, so that a host that comes back is not met by all its clients at once.
    const pauseMs = meanMs * (0.75 + Math.random() / 2);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }

  #describeAbsence(result: unknown): string {
    const unavailableSeconds = Math.round((performance.now() - this.#unavailableSinceMs) / 1_000);
    const reason = result instanceof Error ? ` ${result.message}` : "";
    return `The tool host at ${this.#deps.address} has been away for ${unavailableSeconds} s.${reason}`;
  }
}

const firstPauseMs = 20;
const lastPauseMs = 1_000;
/** What a caller still waits when the host has been away for too long already. */
const lastAttemptMs = 2_000;
const quickLossMs = 1_000;
const maxQuickLosses = 20;
const maxBoots = 4;
