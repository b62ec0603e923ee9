import { closeSync, fsyncSync, openSync, writeFileSync, writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { isClosedWithin, readNames, type WatchdogShared } from "./watchdog-memory.ts";

/**
 * The thread that ends the process when its main thread turns no more. Time counts only as far as this thread lives through it and
 * the process uses the processor: one that is stopped, frozen with its machine, or held in a debugger does neither.
 */
const { memory, limitMs, recordFile } = workerData as WatchdogShared;
const beats = new Int32Array(memory, 0, 1);
const tickMs = Math.min(1_000, Math.max(10, limitMs / 20));

let lastBeat = Atomics.load(beats, 0);
let ticks = 0;
let cpuAtBeat = process.cpuUsage();

while (!isClosedWithin(memory, tickMs)) {
  const beat = Atomics.load(beats, 0);
  if (beat !== lastBeat) {
    lastBeat = beat;
    ticks = 0;
    cpuAtBeat = process.cpuUsage();
    continue;
  }
  ticks += 1;
  const { user, system } = process.cpuUsage(cpuAtBeat);
  if (ticks * tickMs >= limitMs && (user + system) / 1000 >= limitMs / 2) end();
}

function end(): void {
  const { last, working } = readNames(memory);
  const standstill = { at: new Date().toISOString(), last, working };
  let recordError: string | null = null;
  try {
    const file = openSync(recordFile, "w", 0o600);
    writeFileSync(file, JSON.stringify(standstill));
    fsyncSync(file);
    closeSync(file);
  } catch (error) {
    // The process must end all the same; the log says what the next start will not know.
    recordError = String(error);
  }
  const seconds = Math.round(limitMs / 1000);
  const line = {
    level: 60,
    time: Date.now(),
    conversation: last,
    conversations: working,
    ...(recordError === null ? {} : { recordError }),
    msg: `the event loop stood still for ${seconds} s of processor time; the process ends. Start it again: what was at work then is gone on with carefully`,
  };
  try {
    writeSync(2, `${JSON.stringify(line)}\n`);
  } finally {
    // Nothing gentler reaches a main thread that does not turn.
    process.kill(process.pid, "SIGKILL");
  }
}
