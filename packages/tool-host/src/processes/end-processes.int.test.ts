import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { endProcesses } from "./end-processes.ts";

test("P14: a process that ignores TERM is killed, also by one that was held up past all its limits meanwhile", async () => {
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
  setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500), 1);
  expect(await endProcesses(find, { graceMs: 100, killMs: 100 })).toBe(true);
  expect(child.signalCode).toBe("SIGKILL");
});
