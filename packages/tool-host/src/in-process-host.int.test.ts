import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createInProcessHost } from "./in-process-host.ts";
import { watchLeaks } from "./testing/leaks.ts";
import type { LeakCheck } from "./testing/leaks.ts";
import { probeTools } from "./testing/probe-tools.ts";
import { openTemporaryDirectory } from "./testing/temporary-directory.ts";

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
  await expect.poll(runs, { interval: 10, timeout: 20_000 }).toBe("one\ntwo\n");
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
