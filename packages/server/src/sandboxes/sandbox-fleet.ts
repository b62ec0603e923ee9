import { createHmac, randomBytes } from "node:crypto";
import type { RemoteToolHost } from "@convoke/tool-host";
import { describeError } from "../lib/describe-error.ts";
import { DatabaseUnavailableError } from "../lib/database-unavailable.ts";
import { Fault } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";
import type { SecretBox } from "../security/seal.ts";
import { createAbsentBackend } from "./absent-backend.ts";
import { FleetMember, noFleetListener, type FleetListener } from "./fleet-member.ts";
import { reconcile } from "./reconcile.ts";
import { isSandboxId, SandboxError } from "./sandbox.ts";
import type { SandboxBackend, SandboxHandle, SandboxSpec } from "./sandbox.ts";
import type { SandboxRow, SandboxStore } from "./sandbox-store.ts";
import type { StartNews } from "./watched-start.ts";
import type { Clock } from "../lib/clock.ts";

export type FleetDeps = {
  /** In the order that reconciling removes in; see {@link reconcile}. */
  readonly backends: readonly SandboxBackend[];
  /** Owned by the fleet from here on. */
  readonly store: SandboxStore;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Instead of the documented ones. */
  readonly times?: Partial<FleetTimes>;
  readonly listener?: FleetListener;
};

export type FleetTimes = {
  readonly newsEveryMs: number;
  readonly reconcileEveryMs: number;
  readonly checkEveryMs: number;
  /** Instead of each backend's own. */
  readonly startDeadlineMs: number | null;
  /** For everything else that a backend is asked. */
  readonly stepDeadlineMs: number;
};

const fleetTimes: FleetTimes = {
  newsEveryMs: 2_000,
  reconcileEveryMs: 60_000,
  checkEveryMs: 5_000,
  startDeadlineMs: null,
  stepDeadlineMs: 60_000,
};

const boundLogsEveryMs = 500;

export type CreateSandbox = {
  /** Null: it is to be given to somebody later. */
  readonly ownerId: string | null;
  readonly backend: string;
  readonly spec: SandboxSpec;
};

/**
 * All sandboxes of this server: adopts those that the last process left, starts and ends them, and removes what belongs to
 * none. They outlive the server; deleting is the only way to end one for good.
 */
export async function openSandboxFleet(deps: FleetDeps): Promise<SandboxFleet> {
  const fleet = new SandboxFleet(deps);
  await fleet.recover();
  return fleet;
}

export class SandboxFleet implements AsyncDisposable {
  readonly #deps: FleetDeps;
  readonly #times: FleetTimes;
  readonly #members = new Map<string, FleetMember>();
  readonly #timers: NodeJS.Timeout[] = [];
  #bounding: Promise<void> | undefined;
  #rounds: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(deps: FleetDeps) {
    this.#deps = deps;
    this.#times = { ...fleetTimes, ...deps.times };
  }

  /** Resolves when every sandbox is in a known state; due starts continue in the background. */
  async recover(): Promise<void> {
    const rows = await this.#deps.store.list();
    await Promise.all(rows.map((row) => this.#member(row).recover()));
    await this.reconcile();
    this.#every(this.#times.reconcileEveryMs, () => this.reconcile());
    this.#every(this.#times.checkEveryMs, () => this.check());
    // Apart from the rounds, which may take their time: a log grows by as much as the disk takes.
    this.#timers.push(
      setInterval(() => void (this.#bounding ??= this.#boundLogs()), boundLogsEveryMs).unref(),
    );
  }

  async #boundLogs(): Promise<void> {
    const bounding = [...this.#members.values()].map((member) => member.boundLog());
    for (const outcome of await Promise.allSettled(bounding)) {
      if (outcome.status === "rejected")
        this.#deps.logger.warn(
          { reason: describeError(outcome.reason) },
          "a log of a sandbox was not bounded",
        );
    }
    this.#bounding = undefined;
  }

  /** Writes the sandbox down and begins to start it; resolves at once, in `STARTING`. */
  async create({ ownerId, backend, spec }: CreateSandbox): Promise<SandboxRow> {
    this.#assertServed(backend);
    if (!isSandboxId(spec.id)) {
      throw new SandboxError(
        `"${spec.id}" cannot be a sandbox's id: use lower-case letters, digits and "-", at most 40.`,
      );
    }
    const row: SandboxRow = {
      id: spec.id,
      ownerId,
      backend,
      spec,
      status: "STARTING",
      statusDetail: null,
      wish: "running",
      record: null,
      sealedKey: this.#deps.secretBox.seal(randomBytes(32).toString("base64url")),
      createdAtMs: this.#deps.clock.nowMs(),
    };
    try {
      await this.#deps.store.insert(row);
    } catch (error) {
      // The row may be stored: adopt it, so that it can be used and deleted. If it is not, the next check drops it.
      if (error instanceof DatabaseUnavailableError && !this.#members.has(row.id)) this.#adopt(row);
      throw error;
    }
    this.#member(row).begin();
    return row;
  }

  /** Makes a sandbox of nobody that of an owner; it never goes to another one. */
  async give(id: string, ownerId: string): Promise<SandboxRow> {
    return this.#describe(await this.#known(id).give(ownerId));
  }

  async get(id: string): Promise<SandboxRow | null> {
    const row = await this.#deps.store.get(id);
    return row === null ? null : this.#describe(row);
  }

  /** Newest first. */
  async list(): Promise<readonly SandboxRow[]> {
    return (await this.#deps.store.list()).map((row) => this.#describe(row));
  }

  /** Resolves when everything that was asked of the sandbox so far has been done or has failed. */
  async settled(id: string): Promise<SandboxRow | null> {
    await this.#members.get(id)?.drain();
    return this.get(id);
  }

  async pause(id: string): Promise<void> {
    await this.#known(id).pause();
  }

  /** Makes a sandbox run again from every state: continues a paused one, starts a stopped or failed one over its files. */
  async resume(id: string): Promise<void> {
    await this.#known(id).resume();
  }

  /** Ends a sandbox in any state, also while it starts; resolves when nothing is left. Does nothing when it is gone. */
  async delete(id: string): Promise<void> {
    const member = this.#members.get(id);
    if (member === undefined) return;
    await member.delete();
    this.#forget(id, member);
  }

  /** The sandbox's tool host; the connection is shared and the fleet's. Waits for a start that is under way. */
  async toolHost(id: string): Promise<RemoteToolHost> {
    return this.#known(id).toolHost();
  }

  /** For logs and ports. Waits for a start that is under way. */
  async handle(id: string): Promise<SandboxHandle> {
    return this.#known(id).running();
  }

  /** A key that what runs inside never learns; null when there is no such sandbox. */
  keyOf(id: string, purpose: "session" | "ports"): string | null {
    const member = this.#members.get(id);
    return member === undefined ? null : deriveSandboxKey(member.rootKey, purpose);
  }

  /** What is known without reading its row; null when there is none. */
  statusOf(id: string): SandboxRow["status"] | null {
    return this.#members.get(id)?.status ?? null;
  }

  ownerOf(id: string): string | null {
    return this.#members.get(id)?.ownerId ?? null;
  }

  /** Removes what belongs to no sandbox. */
  async reconcile(): Promise<string[]> {
    await this.#followOthers();
    const removed = await reconcile({
      backends: this.#deps.backends,
      store: this.#deps.store,
      logger: this.#deps.logger,
    });
    if (removed.length > 0) this.#deps.logger.info({ sandboxes: removed }, "leftover sandboxes were removed");
    return removed;
  }

  /** Looks after every running sandbox; one that has ended is started again, and is in `ERROR` with the reason when that does not help. */
  async check(): Promise<void> {
    await Promise.all([...this.#members.values()].map((member) => member.check()));
  }

  /** Lets go of the sandboxes, which live on; starts that are under way are given up. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#rounds;
    await this.#bounding;
    await Promise.all([...this.#members.values()].map((member) => member[Symbol.asyncDispose]()));
    await this.#deps.store[Symbol.asyncDispose]();
  }

  /**
   * Servers of other machines may wish that a sandbox goes while this one is unavailable, and forget one that nobody was given. A deletion
   * that failed is retried: its caller may have been told that the sandbox is gone.
   */
  async #followOthers(): Promise<void> {
    const before = [...this.#members];
    const rows = new Map((await this.#deps.store.list()).map((row) => [row.id, row]));
    for (const [id, member] of before) {
      const row = rows.get(id);
      // Another one may have its id by now.
      if (this.#members.get(id) !== member) continue;
      if (row === undefined) {
        this.#forget(id, member);
        await member[Symbol.asyncDispose]();
      } else if (row.wish === "deleted" && (!member.isLeaving || member.status === "ERROR")) {
        // A failure is in its row. The round handles the others meanwhile.
        void this.delete(id).catch(() => {});
      }
    }
  }

  /** Unless another one has its id by now. */
  #forget(id: string, member: FleetMember): void {
    if (this.#members.get(id) === member) this.#members.delete(id);
  }

  #every(ms: number, round: () => Promise<unknown>): void {
    const timer = setInterval(() => {
      this.#rounds = this.#rounds.then(round).catch((error: unknown) => {
        this.#deps.logger.error({ reason: describeError(error) }, "sandboxes could not be checked");
      });
    }, ms);
    timer.unref();
    this.#timers.push(timer);
  }

  /** As one that the last process left. */
  #adopt(row: SandboxRow): void {
    this.#member(row)
      .recover()
      .catch((error: unknown) => {
        const fields = { sandbox: row.id, reason: describeError(error) };
        this.#deps.logger.warn(fields, "the state of a sandbox could not be stored");
      });
  }

  #member(row: SandboxRow): FleetMember {
    const { store, secretBox, logger, clock, listener = noFleetListener } = this.#deps;
    const { backends } = this.#deps;
    const backend =
      backends.find(({ name }) => name === row.backend) ?? createAbsentBackend(row.backend, backends);
    const rootKey = secretBox.unseal(row.sealedKey);
    const member = new FleetMember({
      row,
      backend,
      store,
      logger,
      clock,
      rootKey,
      keys: {
        toolHost: deriveSandboxKey(rootKey, "tool-host"),
        authority: deriveSandboxKey(rootKey, "authority"),
      },
      newsEveryMs: this.#times.newsEveryMs,
      startDeadlineMs: this.#times.startDeadlineMs ?? backend.startDeadlineMs,
      stepDeadlineMs: this.#times.stepDeadlineMs,
      listener,
    });
    this.#members.set(row.id, member);
    return member;
  }

  #known(id: string): FleetMember {
    const member = this.#members.get(id);
    if (member === undefined) throw new Fault("missing", "sandbox_not_found", `There is no sandbox ${id}.`);
    return member;
  }

  #assertServed(name: string): void {
    const names = this.#deps.backends.map((backend) => backend.name);
    if (names.includes(name)) return;
    throw new SandboxError(`There are no ${name} sandboxes here, only: ${names.join(", ")}.`);
  }

  #describe(row: SandboxRow): SandboxRow {
    const news = this.#members.get(row.id)?.news ?? null;
    return news === null ? row : { ...row, statusDetail: describeNews(news) };
  }
}

/** Several keys derived from one secret: none of them reveals the others. */
export function deriveSandboxKey(
  rootKey: string,
  purpose: "tool-host" | "session" | "ports" | "authority",
): string {
  return createHmac("sha256", rootKey).update(`convoke ${purpose}`).digest("base64url");
}

function describeNews({ phase, detail, elapsedMs }: StartNews): string {
  return `${phase}${detail === undefined ? "" : `: ${detail}`} (${Math.round(elapsedMs / 1_000)} s)`;
}
