import { withinMs } from "../within.ts";
import type { ClientConnection } from "./client-connection.ts";
import { ConnectionLostError, ToolHostRefusedError, ToolHostUnreachableError } from "./connection-errors.ts";

export type LinkDeps = {
  /** Opens one connection; a single attempt. */
  readonly open: () => Promise<ClientConnection>;
  /** The host's address, for messages. */
  readonly address: string;
  /** Milliseconds that callers wait for an unavailable host, counted from when it became unavailable. */
  readonly unavailableMs: number;
};

/** One host over many connections: reconnects by itself, so that requests outlive the connection they began on. */
export class Link {
  readonly #deps: LinkDeps;
  #connection: ClientConnection | undefined;
  #unavailableSinceMs = performance.now();
  /** Settles with the result of the current or next attempt. */
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
   * The open connection. Waits for an unavailable host until its time is over; after that each caller gets one more attempt.
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
   * Runs a task on the open connection, and repeats it on the next one when the connection breaks; so the task must be idempotent.
   * Gives up on a host that restarts again and again, or drops every connection.
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

  /** Fails all pending work and rejects new work. */
  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
    this.#wake();
    this.#attempt.resolve(new ToolHostUnreachableError("The connection to the tool host was closed."));
  }

  /** Retries at growing intervals until an attempt succeeds; never rejects. */
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
      // A connection that lasted is restored at once, a short-lived one after a short pause.
      failures = this.#unavailableSinceMs - openedAtMs < quickLossMs ? Math.min(failures, 1) : -1;
    }
  }

  #adopt(connection: ClientConnection): void {
    if (this.#isClosed) connection.close();
    else this.#connection = connection;
  }

  /** Ends early when a caller wants a connection and the host has been unavailable for long. */
  async #pause(meanMs: number): Promise<void> {
    // With jitter, so that not all clients reconnect to a restarted host at once.
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
    return `The tool host at ${this.#deps.address} has been unavailable for ${unavailableSeconds} s.${reason}`;
  }
}

const firstPauseMs = 20;
const lastPauseMs = 1_000;
/** Milliseconds that a caller still waits when the host has been unavailable for too long already. */
const lastAttemptMs = 2_000;
const quickLossMs = 1_000;
const maxQuickLosses = 20;
const maxBoots = 4;
