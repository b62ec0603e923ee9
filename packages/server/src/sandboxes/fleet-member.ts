import type { RemoteToolHost } from "@convoke/tool-host";
import { describeError } from "../lib/describe-error.ts";
import { Fault } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";
import { Mailbox } from "../lib/mailbox.ts";
import type { SandboxBackend, SandboxHandle, SandboxHealth, SandboxKeys } from "./sandbox.ts";
import type { SandboxChange, SandboxRow, SandboxStore } from "./sandbox-store.ts";
import { startWatched, type StartNews } from "./watched-start.ts";
import { withinDeadline } from "./within-deadline.ts";
import type { Clock } from "../lib/clock.ts";

/** Told when a sandbox's row changes or its start has news. */
export interface FleetListener {
  changed(id: string, news: StartNews | null): void;
}

export const noFleetListener: FleetListener = { changed: () => {} };

export type FleetMemberDeps = {
  readonly row: SandboxRow;
  readonly backend: SandboxBackend;
  readonly store: SandboxStore;
  readonly logger: Logger;
  /** What all keys of the sandbox are made from. */
  readonly rootKey: string;
  readonly keys: SandboxKeys;
  readonly clock: Clock;
  readonly newsEveryMs: number;
  readonly startDeadlineMs: number;
  /** For everything else that is asked of the backend. */
  readonly stepDeadlineMs: number;
  readonly listener: FleetListener;
};

/** After this many failed health checks in a row a sandbox has failed. */
const missesAllowed = 3;

/** One that ends sooner again would only be started and end for ever. */
const startAgainEveryMs = 60_000;

/** One sandbox. Requests run one after another, and its row is written before anybody is notified. */
export class FleetMember implements AsyncDisposable {
  readonly #deps: FleetMemberDeps;
  readonly #mailbox = new Mailbox();
  readonly #closing = new AbortController();
  #row: SandboxRow;
  #handle: SandboxHandle | null = null;
  #host: Promise<RemoteToolHost> | null = null;
  #misses = 0;
  #startedAgainMs = Number.NEGATIVE_INFINITY;
  /** It ended while no server managed it, as when the machine restarted: the first request that needs it starts it again. */
  #endedUnseen = false;
  #news: StartNews | null = null;

  constructor(deps: FleetMemberDeps) {
    this.#deps = deps;
    this.#row = deps.row;
  }

  /** What the start that is under way is doing. */
  get news(): StartNews | null {
    return this.#news;
  }

  /** Null while it is nobody's. */
  get ownerId(): string | null {
    return this.#row.ownerId;
  }

  get status(): SandboxRow["status"] {
    return this.#row.status;
  }

  /** True once its deletion was asked for. */
  get isLeaving(): boolean {
    return this.#row.wish === "deleted";
  }

  get rootKey(): string {
    return this.#deps.rootKey;
  }

  /** Starts in the background; a failure is in the row. */
  begin(): void {
    void this.#mailbox.post(() => this.#start().catch(() => {}));
  }

  async drain(): Promise<void> {
    await this.#mailbox.drain();
  }

  /** Finds out the state of a sandbox that no server managed meanwhile, and finishes what was requested. Failures are in the row. */
  async recover(): Promise<void> {
    // It was never used, and its owner may have got another one.
    if (this.#row.ownerId === null) {
      await this.delete().catch(() => {});
      return;
    }
    await this.#mailbox.post(async () => {
      if (this.#row.wish === "deleted") return this.#remove().catch(() => {});
      try {
        await this.#findAgain();
      } catch (error) {
        await this.#change({ status: "ERROR", statusDetail: describeError(error) });
      }
    });
  }

  async #findAgain(): Promise<void> {
    await this.#reattach();
    if (this.#handle === null) return this.#settleAbsence();
    const { state, detail } = await this.#healthOf(this.#handle);
    // One that does not answer may be busy; the next checks will tell.
    if (state === "running" || state === "silent") {
      return this.#change({ status: "RUNNING", statusDetail: null });
    }
    if (state === "paused") return this.#change({ status: "PAUSED", statusDetail: null });
    this.#endedUnseen = this.#row.wish === "running";
    await this.#change({ status: "ERROR", statusDetail: detail });
  }

  async #reattach(): Promise<void> {
    const { record, spec } = this.#row;
    if (record === null) return;
    const { backend, keys } = this.#deps;
    const attached = backend.reattach(record, keys, spec.policy);
    this.#handle = await this.#inTime(attached, "Looking for the sandbox");
  }

  /** Has one that is nobody's belong to somebody, as if it had just been made. One that has ended since is started again. */
  async give(ownerId: string): Promise<SandboxRow> {
    await this.#mailbox.post(async () => {
      if (this.#row.ownerId !== null || this.#row.wish === "deleted") throw this.#notNow("given");
      await this.#change({ ownerId, createdAtMs: this.#deps.clock.nowMs() });
    });
    await this.check();
    return this.#row;
  }

  async pause(): Promise<void> {
    await this.#ask(async () => {
      await this.#change({ wish: "paused" });
      if (this.#handle === null) throw this.#notNow("paused");
      // The connection stays: it reconnects to the tool host when that resumes.
      await this.#inTime(this.#handle.pause(), "Pausing it");
      await this.#change({ status: "PAUSED", statusDetail: null });
    });
  }

  async resume(): Promise<void> {
    await this.#ask(async () => {
      await this.#change({ wish: "running" });
      // Its engine may not have answered when the server started.
      if (this.#handle === null) await this.#reattach();
      const health = this.#handle === null ? null : await this.#healthOf(this.#handle);
      if (this.#handle === null || health === null || !["running", "paused"].includes(health.state)) {
        return this.#start();
      }
      if (health.state === "paused") await this.#inTime(this.#handle.resume(), "Resuming it");
      await this.#change({ status: "RUNNING", statusDetail: null });
    });
  }

  async delete(): Promise<void> {
    await this.#deps.store.update(this.#row.id, { wish: "deleted" });
    this.#row = { ...this.#row, wish: "deleted" };
    this.#closing.abort(new Error("The sandbox is deleted."));
    await this.#mailbox.post(() => this.#remove());
  }

  async toolHost(): Promise<RemoteToolHost> {
    await this.running();
    // It may have begun to end during the wait.
    if (this.#handle === null) throw this.#notNow("used");
    const opening = (this.#host ??= this.#connect(this.#handle));
    try {
      return await opening;
    } catch (error) {
      if (this.#host === opening) this.#host = null;
      throw error;
    }
  }

  async #connect(handle: SandboxHandle): Promise<RemoteToolHost> {
    const connecting = handle.connect();
    try {
      return await this.#inTime(connecting, "Connecting to its tool host");
    } catch (error) {
      detachWhenOpen(connecting);
      throw error;
    }
  }

  async running(): Promise<SandboxHandle> {
    await this.#mailbox.drain();
    if (this.#endedUnseen) {
      await this.#mailbox.post(async () => {
        if (this.#endedUnseen && this.#row.status === "ERROR") await this.#startAgain(this.#row.statusDetail);
      });
    }
    if (this.#handle === null || this.#row.status !== "RUNNING") throw this.#notNow("used");
    return this.#handle;
  }

  /** Restarts an ended sandbox over its files, so that its conversations continue; one that ends again soon is left alone. */
  async #startAgain(reason: string | null): Promise<void> {
    const nowMs = this.#deps.clock.nowMs();
    if (this.#row.wish !== "running" || nowMs - this.#startedAgainMs < startAgainEveryMs) {
      return this.#change({ status: "ERROR", statusDetail: reason });
    }
    this.#startedAgainMs = nowMs;
    this.#deps.logger.warn({ sandbox: this.#row.id, reason }, "a sandbox ended and is started again");
    // A failure is in the row.
    await this.#start().catch(() => {});
  }

  /** Skipped while something else is done to the sandbox: its outcome will be newer. */
  async check(): Promise<void> {
    if (this.#row.status !== "RUNNING") return;
    await this.#mailbox.post(async () => {
      if (this.#handle === null || this.#row.status !== "RUNNING") return;
      const { state, detail } = await this.#healthOf(this.#handle);
      if (state === "running") this.#misses = 0;
      else if (state === "paused") await this.#change({ status: "PAUSED", statusDetail: null });
      else if (state !== "silent" || ++this.#misses >= missesAllowed) await this.#startAgain(detail);
    });
  }

  /** Beside everything else that is done to it. */
  async boundLog(): Promise<void> {
    if (this.#row.status === "RUNNING") await this.#handle?.boundLog?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error("The server stopped while the sandbox started."));
    await this.#mailbox.drain();
    this.#letGoOfHost();
  }

  /** Stores a failure as the sandbox's state, whatever was tried. */
  async #ask(task: () => Promise<void>): Promise<void> {
    if (this.#row.wish === "deleted") throw this.#notNow("changed");
    await this.#mailbox.post(async () => {
      try {
        await task();
      } catch (error) {
        if (!(error instanceof Fault)) {
          await this.#change({ status: "ERROR", statusDetail: describeError(error) });
        }
        throw error;
      }
    });
  }

  /** The connection stays: pending calls reach the new tool host at the same address. */
  async #start(): Promise<void> {
    const { backend, keys, startDeadlineMs, stepDeadlineMs, newsEveryMs, listener } = this.#deps;
    this.#misses = 0;
    this.#endedUnseen = false;
    await this.#change({ status: "STARTING", statusDetail: null });
    try {
      this.#handle = await startWatched({
        backend,
        keys,
        newsEveryMs,
        spec: this.#row.spec,
        deadlineMs: startDeadlineMs,
        cleanUpMs: stepDeadlineMs,
        onNews: (news) => {
          this.#news = news;
          listener.changed(this.#row.id, news);
        },
        signal: this.#closing.signal,
      });
      this.#news = null;
      await this.#change({ status: "RUNNING", statusDetail: null, record: this.#handle.record });
    } catch (error) {
      this.#news = null;
      this.#handle = null;
      await this.#change({ status: "ERROR", statusDetail: describeError(error), record: null });
      this.#deps.logger.warn(
        { sandbox: this.#row.id, reason: describeError(error) },
        "a sandbox did not start",
      );
      throw error;
    }
  }

  /** Silent when there is no answer in time. */
  async #healthOf(handle: SandboxHandle): Promise<SandboxHealth> {
    try {
      return await this.#inTime(handle.health(), "Checking that it works");
    } catch (error) {
      return { state: "silent", detail: describeError(error) };
    }
  }

  /** However long a backend takes, the sandbox comes to a state in which it can be deleted. */
  #inTime<Result>(step: Promise<Result>, what: string): Promise<Result> {
    return withinDeadline(step, this.#deps.stepDeadlineMs, what);
  }

  async #settleAbsence(): Promise<void> {
    const { status, wish } = this.#row;
    const detail =
      status === "STARTING"
        ? "The server stopped while the sandbox started. Resume it to start it again; its files are kept."
        : "The sandbox ended while the server was down. It is started again when it is used; its files are kept.";
    this.#endedUnseen = wish === "running" && status !== "ERROR";
    await this.#change({
      status: wish === "paused" ? "PAUSED" : "ERROR",
      statusDetail: detail,
      record: null,
    });
  }

  async #remove(): Promise<void> {
    this.#handle = null;
    this.#letGoOfHost();
    await this.#change({ status: "MISSING", statusDetail: "being deleted" });
    try {
      await this.#inTime(this.#deps.backend.remove(this.#row.id), "Removing it");
    } catch (error) {
      await this.#change({
        status: "ERROR",
        statusDetail: `It could not be deleted: ${describeError(error)}`,
      });
      throw error;
    }
    await this.#deps.store.remove(this.#row.id);
    this.#deps.listener.changed(this.#row.id, null);
  }

  /** Sessions and executions continue inside, for the next connection. */
  #letGoOfHost(): void {
    if (this.#host !== null) detachWhenOpen(this.#host);
    this.#host = null;
  }

  async #change(change: SandboxChange): Promise<void> {
    this.#row = { ...this.#row, ...change };
    await this.#deps.store.update(this.#row.id, change);
    this.#deps.listener.changed(this.#row.id, null);
  }

  #notNow(what: string): Fault {
    const { id, status, statusDetail, wish } = this.#row;
    const state = wish === "deleted" ? "being deleted" : status;
    const why = statusDetail === null ? "" : ` (${statusDetail})`;
    return new Fault(
      "not-now",
      "sandbox_not_running",
      `Sandbox ${id} cannot be ${what}: it is ${state}${why}.`,
    );
  }
}

function detachWhenOpen(opening: Promise<RemoteToolHost>): void {
  opening.then(
    (host) => host.detach(),
    () => {}, // A connection that never opened needs no closing; whoever asked for it has the reason.
  );
}
