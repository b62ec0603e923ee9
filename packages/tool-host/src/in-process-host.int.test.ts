import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createInProcessHost } from "./in-process-host.ts";
import { allowedEnvironment } from "./processes/allowed-environment.ts";
import { findMarkedProcesses } from "./system/process-table.ts";
import { watchLeaks } from "./testing/leaks.ts";
import type { LeakCheck } from "./testing/leaks.ts";
import { probeTools } from "./testing/probe-tools.ts";
import { openTemporaryDirectory } from "./testing/temporary-directory.ts";
import { terminalTool } from "./tools/terminal/terminal-tool.ts";

let leaks: LeakCheck;
beforeEach(() => {
  leaks = watchLeaks();
});
afterEach(async () => leaks.assertNone());

test("P6: after kill -9 a finished call has its outcome, a running one is lost, a waiting one never started", async () => {
  await using directory = await openTemporaryDirectory();
  const runs = async (): Promise<string> =>
    readFile(join(directory.path, "workspace/runs.log"), "utf8").catch(() => "");
  const script = fileURLToPath(new URL("./testing/probe-host.ts", import.meta.url));
  const actions = ["done=say:one", "held=hold:two", "waiting=say:three"];
  const child = spawn(process.execPath, [script, directory.path, ...actions], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  await expect.poll(runs, { interval: 10 }).toBe("one\ntwo\n");
  child.kill("SIGKILL");
  await once(child, "exit");

  await using host = createInProcessHost({ tools: probeTools, environment: {} });
  const session = await host.openSession({
    sessionId: "session",
    workspaceDir: join(directory.path, "workspace"),
    stateDir: join(directory.path, "state"),
    tools: [{ name: "probe" }],
  });
  expect(await session.state("done")).toMatchObject({
    type: "finished",
    outcome: { type: "observation", observation: { content: [{ text: "one" }] } },
  });
  expect(await session.state("held")).toEqual({ type: "lost" });
  expect(await session.state("waiting")).toEqual({ type: "unknown" });
  for (const actionId of ["done", "held"]) {
    const action = { kind: "ThinkAction", thought: "say:again" } as const;
    await session.execute({ actionId, tool: "probe", action, secrets: [] });
  }
  expect(await runs()).toBe("one\ntwo\n");
});

test("P14: a hundred sessions opened, used and closed leave no file open", async () => {
  await using directory = await openTemporaryDirectory();
  await using host = createInProcessHost({ tools: probeTools, environment: {} });
  for (let index = 0; index < 100; index += 1) {
    await using session = await host.openSession({
      sessionId: `session-${index}`,
      workspaceDir: directory.path,
      stateDir: join(directory.path, `state-${index}`),
      tools: [{ name: "probe" }],
    });
    const action = { kind: "ThinkAction", thought: "say:hi" } as const;
    await session.execute({ actionId: "a", tool: "probe", action, secrets: [] });
  }
  await leaks.assertNone();
});

test("P14, F8: a session that is closed at any moment of a shell's start leaves no process, and its folder can go", async () => {
  await using directory = await openTemporaryDirectory();
  const marker = `test-${process.pid}-close`;
  const environment = { ...allowedEnvironment(process.env), CLOSE_TEST: marker };
  await using host = createInProcessHost({ tools: [terminalTool], environment });
  for (let delayMs = 0; delayMs < 60; delayMs += 3) {
    const stateDir = join(directory.path, `state-${delayMs}`);
    const session = await host.openSession({
      sessionId: `session-${delayMs}`,
      workspaceDir: join(directory.path, "workspace"),
      stateDir,
      tools: [{ name: "terminal" }],
    });
    const action = { kind: "TerminalAction", command: "sleep 60", is_input: false, reset: false } as const;
    const outcome = session.execute({ actionId: "a", tool: "terminal", action, secrets: [] });
    await sleep(delayMs);
    await session[Symbol.asyncDispose]();
    await outcome;
    await rm(stateDir, { recursive: true });
    expect(findMarkedProcesses(`CLOSE_TEST=${marker}`)).toEqual([]);
  }
  expect((await readdir(directory.path)).filter((name) => name.startsWith("state"))).toEqual([]);
});
