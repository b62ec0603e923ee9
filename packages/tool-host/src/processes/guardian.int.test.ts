import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { guardianVariable, openGuardian } from "./guardian.ts";
import { collectOrphans, createMarker } from "./collect-orphans.ts";
import {
  findMarkedProcesses,
  listProcesses,
  readCommandLine,
  readEnvironment,
} from "../system/process-table.ts";

const hostScript = fileURLToPath(new URL("testing/guarded-host.ts", import.meta.url));

describe("P14: the guardian", () => {
  test("P14: after kill -9 of the host no descendant lives on", async () => {
    const marker = `test-${process.pid}-kill`;
    const assignment = `${guardianVariable}=${marker}`;
    const host = spawn(process.execPath, [hostScript, marker], { stdio: ["ignore", "pipe", "inherit"] });
    await once(host.stdout, "data");
    // A process that was just forked may have no environment yet.
    await expect.poll(() => findMarkedProcesses(assignment).length).toBeGreaterThan(5);
    host.kill("SIGKILL");
    await once(host, "exit");
    // The promise is five seconds; a machine that runs other suites gets far more.
    await expect.poll(() => findMarkedProcesses(assignment)).toEqual([]);
    // The guardian exits too; its marker is an argument, so its environment never matched.
    await expect.poll(() => guardianRuns(assignment)).toBe(false);
  });

  test("P14, F12: after kill -9 of the host and its guardian together no descendant lives on", async () => {
    const marker = `test-${process.pid}-both`;
    const assignment = `${guardianVariable}=${marker}`;
    const host = spawn(process.execPath, [hostScript, marker], { stdio: ["ignore", "pipe", "inherit"] });
    await once(host.stdout, "data");
    await expect.poll(() => findMarkedProcesses(assignment).length).toBeGreaterThan(5);
    await expect.poll(() => guardianIds(assignment)).toHaveLength(1);
    const [guardian] = await guardianIds(assignment);
    process.kill(guardian!, "SIGKILL");
    host.kill("SIGKILL");
    await once(host, "exit");
    await expect.poll(() => findMarkedProcesses(assignment)).toEqual([]);
    await expect.poll(() => keeperRuns(assignment)).toBe(false);
  });

  test("F12: a killed guardian is replaced, and both exit with their owner", async () => {
    const marker = `test-${process.pid}-replaced`;
    const assignment = `${guardianVariable}=${marker}`;
    const guardian = await openGuardian({ marker });
    await expect.poll(() => keeperRuns(assignment)).toBe(true);
    await expect.poll(() => guardianIds(assignment)).toHaveLength(1);
    const [first] = await guardianIds(assignment);
    process.kill(first!, "SIGKILL");
    await expect
      .poll(async () => (await guardianIds(assignment)).filter((pid) => pid !== first))
      .toHaveLength(1);
    await guardian[Symbol.asyncDispose]();
    await expect.poll(() => guardianIds(assignment)).toEqual([]);
    await expect.poll(() => keeperRuns(assignment)).toBe(false);
  });

  test("F12: processes of an owner that is gone are collected, and nothing else", async () => {
    const left = (marker: string) => {
      const child = spawn("sleep", ["60"], {
        env: { PATH: process.env["PATH"], [guardianVariable]: marker },
        detached: true,
        stdio: "ignore",
      });
      return { child, ended: once(child, "exit") };
    };
    const own = createMarker("convoke");
    const [, pid = "", ticks = "", namespace = ""] = own.split(".");
    const id = own.split(".").at(-1) ?? "";
    // The owner's id now belongs to us, but we started at another time.
    const orphan = left(`convoke.${pid}.${Number(ticks) - 1}.${namespace}.${id}`);
    const others = [own, `convoke.${pid}.1.${Number(namespace) + 1}.${id}`, "convoke-other"].map(left);
    await Promise.all([orphan, ...others].map(({ child }) => once(child, "spawn")));
    await expect.poll(() => readEnvironment(orphan.child.pid ?? 0, guardianVariable)).toBeDefined();
    // A server of another suite that starts and collects orphans may have been faster.
    await collectOrphans();
    expect(await orphan.ended).toEqual([null, expect.any(String)]);
    for (const { child, ended } of others) {
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
      child.kill("SIGKILL");
      await ended;
    }
  });

  test("P14: disposing ends what is left and the guardian itself, nothing else", async () => {
    const marker = `test-${process.pid}-dispose`;
    const guardian = await openGuardian({ marker });
    expect(guardian.environment).toEqual({ [guardianVariable]: marker });
    const start = (environment: Readonly<Record<string, string>>) =>
      spawn("sleep", ["60"], {
        env: { PATH: process.env["PATH"], ...environment },
        detached: true,
        stdio: "ignore",
      });
    const ours = start(guardian.environment);
    const other = start({ [guardianVariable]: `${marker}-other` });
    await once(other, "spawn");
    const ended = once(ours, "exit");
    await expect
      .poll(() => findMarkedProcesses(`${guardianVariable}=${marker}`).map(({ pid }) => pid))
      .toEqual([ours.pid]);
    await guardian[Symbol.asyncDispose]();
    await ended;
    expect(other.exitCode).toBeNull();
    expect(other.signalCode).toBeNull();
    other.kill("SIGKILL");
    await expect.poll(() => guardianRuns(`${guardianVariable}=${marker}`)).toBe(false);
    await guardian[Symbol.asyncDispose]();
  });

  test("a marker that a shell could misread is refused", async () => {
    await expect(openGuardian({ marker: "a b" })).rejects.toThrow("marker");
  });
});

async function guardianRuns(assignment: string): Promise<boolean> {
  return (await guardianIds(assignment)).length > 0;
}

async function guardianIds(assignment: string): Promise<number[]> {
  return withArguments("convoke-guardian", assignment);
}

async function keeperRuns(assignment: string): Promise<boolean> {
  return withArguments("convoke-keeper", assignment).length > 0;
}

/** Ignores the short-lived subshells of a shell: their parent differs. */
function withArguments(name: string, assignment: string): number[] {
  return listProcesses()
    .filter(
      ({ pid, state }) =>
        state !== "Z" && readCommandLine(pid)?.includes(`\0${name}\0${assignment}\0`) === true,
    )
    .filter(({ parentPid }) => readCommandLine(parentPid)?.includes(`\0${name}\0`) !== true)
    .map(({ pid }) => pid);
}
