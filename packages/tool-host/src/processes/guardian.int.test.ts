import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { guardianVariable, openGuardian } from "./guardian.ts";
import { findMarkedProcesses } from "./process-table.ts";

const hostScript = fileURLToPath(new URL("testing/guarded-host.ts", import.meta.url));

describe("P14: the guardian", () => {
  test("P14: after kill -9 of the host no descendant lives after five seconds", async () => {
    const marker = `test-${process.pid}-kill`;
    const assignment = `${guardianVariable}=${marker}`;
    const host = spawn(process.execPath, [hostScript, marker], { stdio: ["ignore", "pipe", "inherit"] });
    await once(host.stdout, "data");
    // One that has just been forked may have no environment yet.
    await expect.poll(() => findMarkedProcesses(assignment).length).toBeGreaterThan(5);
    host.kill("SIGKILL");
    await once(host, "exit");
    await expect.poll(() => findMarkedProcesses(assignment), { timeout: 5_000 }).toEqual([]);
    // The guardian goes too; its marker is an argument, so its environment never counted.
    await expect.poll(() => guardianRuns(assignment)).toBe(false);
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
    expect(await guardianRuns(`${guardianVariable}=${marker}`)).toBe(false);
    await guardian[Symbol.asyncDispose]();
  });

  test("a marker that a shell could misread is refused", async () => {
    await expect(openGuardian({ marker: "a b" })).rejects.toThrow("marker");
  });
});

async function guardianRuns(assignment: string): Promise<boolean> {
  const search = spawn("pgrep", ["-f", `convoke-guardian ${assignment}$`], { stdio: "ignore" });
  const [code] = (await once(search, "exit")) as [number | null];
  return code === 0;
}
