/** The memory that both threads of a watchdog share: a count of loop turns, a length, and a text. */
export type WatchdogShared = {
  readonly memory: SharedArrayBuffer;
  readonly limitMs: number;
  /** The file for the names when the process is ended. */
  readonly recordFile: string;
};

/** The work at the time of the stall: the main thread's last activity, and everything in progress. */
export type WatchdogNames = { readonly last: string | null; readonly working: readonly string[] };

/** Whether the watch is over, and what its thread waits for. */
const closedAt = 8;
const headBytes = 12;
const textBytes = 64 * 1024;
/** Of conversations' ids. */
const maxNames = 1_000;

export function createMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(headBytes + textBytes);
}

export function writeNames(memory: SharedArrayBuffer, last: string | null, working: Iterable<string>): void {
  const text = JSON.stringify({ last, working: [...working].slice(0, maxNames) });
  const bytes = Buffer.from(text, "utf8");
  if (bytes.byteLength > textBytes) return;
  new Uint8Array(memory, headBytes).set(bytes);
  Atomics.store(new Int32Array(memory, 4, 1), 0, bytes.byteLength);
}

/** Ends the watch, and the wait of its thread at once. */
export function closeWatch(memory: SharedArrayBuffer): void {
  const closed = new Int32Array(memory, closedAt, 1);
  Atomics.store(closed, 0, 1);
  Atomics.notify(closed, 0);
}

/** Sleeps; true when the watch is over. */
export function isClosedWithin(memory: SharedArrayBuffer, milliseconds: number): boolean {
  const closed = new Int32Array(memory, closedAt, 1);
  Atomics.wait(closed, 0, 0, milliseconds);
  return Atomics.load(closed, 0) !== 0;
}

/** Tolerates what was cut off in the middle of being written. */
export function readNames(memory: SharedArrayBuffer): WatchdogNames {
  const length = Atomics.load(new Int32Array(memory, 4, 1), 0);
  try {
    return JSON.parse(Buffer.from(memory, headBytes, length).toString("utf8")) as WatchdogNames;
  } catch {
    // The main thread stalled right there, or has named nothing yet.
    return { last: null, working: [] };
  }
}
