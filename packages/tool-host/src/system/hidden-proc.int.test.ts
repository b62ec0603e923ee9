import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { guardianVariable } from "../processes/guardian.ts";
import { openTemporaryDirectory } from "../testing/temporary-directory.ts";
import { findMarkedProcesses } from "./process-table.ts";
import { canHideProc, withoutProc } from "./testing/hidden-proc.ts";

const program = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const hasPrograms = spawnSync("ps", ["-V"]).status === 0 && existsSync("/usr/bin/lsof");
const isPossible = hasPrograms && canHideProc();

async function openFolder(): Promise<string> {
  const directory = await openTemporaryDirectory();
  onTestFinished(async () => directory[Symbol.asyncDispose]());
  return directory.path;
}

const facts = {
  isThere: true,
  isOwn: true,
  isChild: true,
  isYoung: true,
  isMarked: true,
  command: "/bin/sleep\u000060\u0000",
  folder: "/",
  isListening: true,
  hasLimit: true,
  isGone: true,
};
const describeSystem = [process.execPath, program("testing/describe-system.ts")] as const;

test("issue 26: the process table knows processes, folders and ports", () => {
  const output = execFileSync(describeSystem[0], [describeSystem[1]], { encoding: "utf8", cwd: "/" });
  expect(JSON.parse(output)).toEqual({ kind: "proc", ...facts });
});

test.skipIf(!isPossible)("issue 26: without /proc ps and lsof report the same", async () => {
  const [command, ...args] = withoutProc(await openFolder(), describeSystem);
  const output = execFileSync(command, args, { encoding: "utf8", cwd: "/" });
  expect(JSON.parse(output)).toEqual({ kind: "ps", ...facts });
});

test.skipIf(!isPossible)(
  "P14: without /proc the guardian ends what a killed host leaves behind",
  async () => {
    const marker = `test-${process.pid}-hidden`;
    const assignment = `${guardianVariable}=${marker}`;
    const hostScript = program("../processes/testing/guarded-host.ts");
    const [command, ...args] = withoutProc(await openFolder(), [process.execPath, hostScript, marker]);
    const host = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    await once(host.stdout, "data");
    // This process sees them by /proc.
    await expect.poll(() => findMarkedProcesses(assignment).length, { timeout: 30_000 }).toBeGreaterThan(5);
    host.kill("SIGKILL");
    await once(host, "exit");
    await expect.poll(() => findMarkedProcesses(assignment), { timeout: 30_000 }).toEqual([]);
  },
);
