import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { endProcesses } from "./end-processes.ts";
import { ProcessScans, type ProcessScan } from "./process-scan.ts";

const variable = "CONVOKE_TEST_MARK";

async function startMarked(mark: string): Promise<ChildProcess> {
  const child = spawn("/bin/sleep", ["60"], { stdio: "ignore", env: { [variable]: mark } });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  return child;
}

test("P14: processes that are ended at the same time share their scans of the process table", async () => {
  const marks = Array.from({ length: 40 }, (_, index) => `shared ${index}`);
  const children = await Promise.all(marks.map(startMarked));
  const used = new Set<ProcessScan>();
  let checks = 0;
  const ended = marks.map((mark) =>
    endProcesses(
      (scan) => {
        used.add(scan);
        checks += 1;
        return { pids: scan.marked(variable, mark).map(({ pid }) => pid), groupIds: [] };
      },
      { graceMs: 60_000, killMs: 3_000 },
    ),
  );
  expect(await Promise.all(ended)).toEqual(marks.map(() => true));
  expect(children.map(({ signalCode }) => signalCode)).toEqual(marks.map(() => "SIGTERM"));
  expect(checks).toBeGreaterThanOrEqual(2 * marks.length);
  expect(used.size).toBeLessThan(checks / 2);
});

test("a scan shows the processes at the time of its request, by mark and by session", async () => {
  const scans = new ProcessScans();
  const [first, same] = [scans.next(), scans.next()];
  expect(await first).toBe(await same);
  expect((await first).marked(variable, "later")).toEqual([]);
  const { pid } = await startMarked("later");
  const newer = await scans.next();
  expect(newer.marked(variable, "later").map((entry) => entry.pid)).toEqual([pid]);
  const { sessionId } = newer.marked(variable, "later")[0]!;
  expect(newer.ofSession(sessionId).map((entry) => entry.pid)).toContain(pid);
});
