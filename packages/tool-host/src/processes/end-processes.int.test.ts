import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { endProcesses } from "./end-processes.ts";

test("P14: a process that ignores TERM is killed, also when the killer was held up beyond all its timeouts", async () => {
  const child = spawn("/bin/sh", ["-c", "trap '' TERM; echo ready; while :; do sleep 1; done"], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const find = () => {
    const { pid = 0, exitCode, signalCode } = child;
    return { pids: [], groupIds: exitCode === null && signalCode === null ? [pid] : [] };
  };
  setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_500), 1);
  // Longer than a busy machine takes to release killed processes, shorter than the test's stall.
  expect(await endProcesses(find, { graceMs: 100, killMs: 3_000 })).toBe(true);
  expect(child.signalCode).toBe("SIGKILL");
});

test("P14: a process that is invisible for a moment, as while it executes another program, is ended too", async () => {
  const [first, hidden] = [1, 2].map(() => spawn("/bin/sleep", ["60"], { stdio: "ignore" }));
  onTestFinished(() => [first, hidden].forEach((child) => child?.kill("SIGKILL")));
  await once(hidden!, "spawn");
  const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;
  let scans = 0;
  const find = () => {
    scans += 1;
    const shown = scans <= 2 ? [first!] : [first!, hidden!];
    return { pids: shown.filter(isRunning).map(({ pid = 0 }) => pid), groupIds: [] };
  };
  expect(await endProcesses(find, { graceMs: 60_000, killMs: 3_000 })).toBe(true);
  expect(hidden!.signalCode).toBe("SIGTERM");
});
