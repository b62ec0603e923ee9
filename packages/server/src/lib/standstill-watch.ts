import { closeSync, fsyncSync, openSync, writeFileSync, writeSync } from "node:fs";
import { isClosedWithin, readNames, type WatchdogShared } from "./watchdog-memory.ts";

/**
 * Checks from another thread whether the main thread's event loop advances, and ends the process when it has stalled.
 * Only time counts in which the checking thread runs and the process uses the processor: a stopped process, a suspended
 * machine or a debugger does not count.
 */
export class StandstillWatch {
  /** The check interval in milliseconds. */
  readonly tickMs: number;
  readonly #shared: WatchdogShared;
  readonly #heartbeats: Int32Array;
  #lastHeartbeat: number;
  #ticks = 0;
  #cpuAtHeartbeat = process.cpuUsage();

  constructor(shared: WatchdogShared) {
    this.#shared = shared;
    this.tickMs = Math.min(1_000, Math.max(10, shared.limitMs / 20));
    this.#heartbeats = new Int32Array(shared.memory, 0, 1);
    this.#lastHeartbeat = Atomics.load(this.#heartbeats, 0);
  }

  /** Checks periodically in this thread, which does nothing else until the watch ends. */
  occupyThread(): void {
    while (!isClosedWithin(this.#shared.memory, this.tickMs)) this.check();
  }

  /** Checks in this thread beside its other work; does not keep it alive. */
  shareThread(): void {
    const timer = setInterval(() => {
      if (isClosedWithin(this.#shared.memory, 0)) clearInterval(timer);
      else this.check();
    }, this.tickMs).unref();
  }

  check(): void {
    const heartbeat = Atomics.load(this.#heartbeats, 0);
    if (heartbeat !== this.#lastHeartbeat) {
      this.#lastHeartbeat = heartbeat;
      this.#ticks = 0;
      this.#cpuAtHeartbeat = process.cpuUsage();
      return;
    }
    this.#ticks += 1;
    const { limitMs } = this.#shared;
    const { user, system } = process.cpuUsage(this.#cpuAtHeartbeat);
    if (this.#ticks * this.tickMs >= limitMs && (user + system) / 1000 >= limitMs / 2) end(this.#shared);
  }
}

function end({ memory, limitMs, recordFile }: WatchdogShared): void {
  const { last, working } = readNames(memory);
  const standstill = { at: new Date().toISOString(), last, working };
  let recordError: string | null = null;
  try {
    const file = openSync(recordFile, "w", 0o600);
    writeFileSync(file, JSON.stringify(standstill));
    fsyncSync(file);
    closeSync(file);
  } catch (error) {
    // The process must end anyway; the log has what the next start cannot know.
    recordError = String(error);
  }
  const seconds = Math.round(limitMs / 1000);
  const line = {
    level: 60,
    time: Date.now(),
    conversation: last,
    conversations: working,
    ...(recordError === null ? {} : { recordError }),
    msg: `the event loop stood still for ${seconds} s of processor time; the process ends. After a restart its runs are resumed one after another`,
  };
  try {
    writeSync(2, `${JSON.stringify(line)}\n`);
  } finally {
    // A stalled main thread cannot be ended more gently.
    process.kill(process.pid, "SIGKILL");
  }
}
