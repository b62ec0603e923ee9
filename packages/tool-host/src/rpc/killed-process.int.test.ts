import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Outcome, ToolSession } from "../host.ts";
import { guardianVariable } from "../processes/guardian.ts";
import { findMarkedProcesses } from "../system/process-table.ts";
import { testKey } from "../testing/served-host.ts";
import { openTemporaryDirectory } from "../testing/temporary-directory.ts";
import { connectToolHost } from "./connect-host.ts";

test("P6, P14: kill -9 of the tool host: the call ends with a clear error, its processes end, the next call works", async () => {
  const bench = await openBench();
  const first = await bench.startHost();
  const remote = await bench.connect();
  const session = await remote.openSession(bench.spec);
  expect(await run(session, "before", "echo before")).toContain("before");
  const held = session.execute(terminal("held", "echo started >> log; sleep 300; echo ended >> log"));
  await expect.poll(bench.log).toBe("started\n");
  first.kill("SIGKILL");
  await once(first, "exit");
  await bench.startHost();
  const outcome = await held;
  expect(outcome).toMatchObject({
    type: "error",
    text: expect.stringMatching(/restarted.*outcome is unknown/),
  });
  expect(await session.state("before")).toMatchObject({ type: "finished" });
  expect(await run(session, "next", "echo next")).toContain("next");
  await expect.poll(() => bench.processes("1").length).toBe(0);
  expect(await bench.log()).toBe("started\n");
});

test("P6, P24: kill -9 of the client: the command finishes once, and a new client gets its outcome", async () => {
  const bench = await openBench();
  await bench.startHost();
  const command = "echo started >> log; until test -e go; do sleep 0.05; done; echo ended >> log; echo built";
  const caller = bench.startCaller(command);
  await expect.poll(bench.log).toBe("started\n");
  caller.kill("SIGKILL");
  await once(caller, "exit");

  const session = await (await bench.connect()).openSession(bench.spec);
  expect(await session.state("build")).toEqual({ type: "running" });
  await writeFile(join(bench.spec.workspaceDir, "go"), "");
  expect(textOf(await session.execute(terminal("build", command)))).toContain("built");
  expect(await session.state("build")).toMatchObject({ type: "finished" });
  expect(await bench.log()).toBe("started\nended\n");
});

test("P6: the command ends without a client: its outcome is stored for the next client", async () => {
  const bench = await openBench();
  await bench.startHost();
  const caller = bench.startCaller(
    "echo started >> log; until test -e go; do sleep 0.05; done; echo ended >> log; echo built",
  );
  await expect.poll(bench.log).toBe("started\n");
  caller.kill("SIGKILL");
  await once(caller, "exit");
  await writeFile(join(bench.spec.workspaceDir, "go"), "");
  await expect.poll(bench.log).toBe("started\nended\n");
  const session = await (await bench.connect()).openSession(bench.spec);
  await expect.poll(async () => session.state("build")).toMatchObject({ type: "finished" });
  const state = await session.state("build");
  expect(state.type === "finished" && textOf(state.outcome)).toContain("built");
});

const hostScript = fileURLToPath(new URL("../testing/served-host-process.ts", import.meta.url));
const callerScript = fileURLToPath(new URL("../testing/remote-caller-process.ts", import.meta.url));

async function openBench() {
  const scope = new AsyncDisposableStack();
  onTestFinished(async () => scope.disposeAsync());
  const { path: dir } = scope.use(await openTemporaryDirectory());
  const socket = join(dir, "host.sock");
  const spec = {
    sessionId: "session",
    workspaceDir: join(dir, "workspace"),
    stateDir: join(dir, "state"),
    tools: [{ name: "terminal" }],
  };
  const start = (script: string, parameters: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [script, ...parameters], { stdio: ["ignore", "pipe", "inherit"] });
    scope.defer(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    return child;
  };
  let hosts = 0;
  const marker = (count: string): string => `test-${process.pid}-${dir.slice(-6)}-${count}`;
  return {
    spec,
    startHost: async () => {
      hosts += 1;
      const child = start(hostScript, ["--socket", socket, "--key", testKey, "--marker", marker(`${hosts}`)]);
      await once(child.stdout as NonNullable<typeof child.stdout>, "data");
      return child;
    },
    startCaller: (command: string) =>
      start(callerScript, [
        "--address",
        `unix:${socket}`,
        "--key",
        testKey,
        "--directory",
        dir,
        "--command",
        command,
      ]),
    connect: async () => scope.use(await connectToolHost({ address: `unix:${socket}`, key: testKey })),
    processes: (count: string) => findMarkedProcesses(`${guardianVariable}=${marker(count)}`),
    log: async () => readFile(join(spec.workspaceDir, "log"), "utf8").catch(() => ""),
  };
}

function terminal(actionId: string, command: string) {
  const action = { kind: "TerminalAction", command } as const;
  return { actionId, tool: "terminal", action, secrets: [] };
}

async function run(session: ToolSession, actionId: string, command: string): Promise<string> {
  return textOf(await session.execute(terminal(actionId, command)));
}

function textOf(outcome: Outcome): string {
  return JSON.stringify(outcome.type === "observation" ? outcome.observation : outcome);
}
