import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";
import type { CreateSandbox, SandboxFleet } from "./sandbox-fleet.ts";

export type WarmPoolDeps = {
  readonly fleet: Pick<SandboxFleet, "create" | "settled" | "statusOf" | "toolHost" | "delete">;
  /** The number of idle sandboxes to keep running. */
  readonly size: number;
  /** What the next one is to be, with an id of its own. */
  readonly order: () => Omit<CreateSandbox, "ownerId">;
  readonly logger: Logger;
  /** Instead of the documented ones. */
  readonly times?: Partial<WarmPoolTimes>;
};

export type WarmPoolTimes = {
  /** Nobody has started a sandbox for so long before one more is made. */
  readonly restMs: number;
  /** After one that did not start. */
  readonly afterFailureMs: number;
};

const warmPoolTimes: WarmPoolTimes = { restMs: 1_000, afterFailureMs: 60_000 };

/**
 * Running sandboxes without an owner, for the next starts. Each is taken once and then given to one owner; none
 * that was given ever comes back. They are made one at a time, while nobody starts any, and go with the server.
 */
export class WarmPool implements AsyncDisposable {
  readonly #deps: WarmPoolDeps;
  readonly #times: WarmPoolTimes;
  readonly #ready: string[] = [];
  readonly #taken = new Set<string>();
  #making: string | null = null;
  #made: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(deps: WarmPoolDeps) {
    this.#deps = deps;
    this.#times = { ...warmPoolTimes, ...deps.times };
    this.rest();
  }

  /** Puts the making of the next one off: somebody needs the machine. */
  rest(ms = this.#times.restMs): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#making !== null || this.#ready.length >= this.#deps.size) return;
    this.#timer = setTimeout(() => {
      this.#made = this.#make();
    }, ms);
    this.#timer.unref();
  }

  /** The id of a running one, reserved until {@link redeem}; null when there is none. */
  take(): string | null {
    const { fleet } = this.#deps;
    let id = this.#ready.shift() ?? null;
    for (; id !== null && fleet.statusOf(id) !== "RUNNING"; id = this.#ready.shift() ?? null)
      void this.#remove(id);
    if (id !== null) this.#taken.add(id);
    this.rest();
    return id;
  }

  /** One that was taken and is not needed is there for the next; nobody has been in it. */
  putBack(id: string): void {
    if (this.#taken.delete(id)) this.#ready.push(id);
  }

  /** True once for each that was taken: it is to be given now. */
  redeem(id: string): boolean {
    return this.#taken.delete(id);
  }

  /** Ends those that nobody was given. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const left = [...this.#ready, ...this.#taken, ...(this.#making === null ? [] : [this.#making])];
    await Promise.all(left.map((id) => this.#remove(id)));
    await this.#made;
  }

  /** Never rejects. */
  async #make(): Promise<void> {
    const order = this.#deps.order();
    const { id } = order.spec;
    this.#making = id;
    const reason = await this.#start(order);
    this.#making = null;
    // The close of the pool may have missed it.
    if (this.#isClosed) return this.#remove(id);
    if (reason === null) this.#ready.push(id);
    else {
      this.#deps.logger.warn({ sandbox: id, reason }, "a warm sandbox could not be started");
      await this.#remove(id);
    }
    this.rest(reason === null ? this.#times.restMs : this.#times.afterFailureMs);
  }

  /** Why it does not run; null when it does. */
  async #start(order: Omit<CreateSandbox, "ownerId">): Promise<string | null> {
    const { fleet } = this.#deps;
    try {
      await fleet.create({ ...order, ownerId: null });
      const row = await fleet.settled(order.spec.id);
      if (row?.status !== "RUNNING") return row?.statusDetail ?? "It was removed.";
      // Its owner finds the connection open; a failure to connect is reported at the first use.
      await fleet.toolHost(order.spec.id).catch(() => {});
      return null;
    } catch (error) {
      return describeError(error);
    }
  }

  /** What cannot be removed now belongs to nobody; the fleet tries it again, and so does the next server. */
  async #remove(id: string): Promise<void> {
    try {
      await this.#deps.fleet.delete(id);
    } catch (error) {
      const fields = { sandbox: id, reason: describeError(error) };
      this.#deps.logger.warn(fields, "a warm sandbox could not be removed");
    }
  }
}
