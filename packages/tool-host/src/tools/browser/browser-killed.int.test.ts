import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { guardianVariable } from "../../processes/guardian.ts";
import { findMarkedProcesses } from "../../system/process-table.ts";
import { connectToolHost } from "../../rpc/connect-host.ts";
import { testKey } from "../../testing/served-host.ts";
import { openTemporaryDirectory } from "../../testing/temporary-directory.ts";
import { findChromium, stillRunning } from "./testing/chromium-processes.ts";

const hostScript = fileURLToPath(new URL("../../testing/served-host-process.ts", import.meta.url));

test("P14: kill -9 of the tool host leaves no browser behind, nor anything of one that is still starting", async () => {
  await using directory = await openTemporaryDirectory();
  for (const isStarting of [false, true]) {
    const socket = join(directory.path, `${isStarting}.sock`);
    const marker = `browser-${process.pid}-${isStarting}`;
    const child = spawn(
      process.execPath,
      [hostScript, "--socket", socket, "--key", testKey, "--marker", marker],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const remote = await connectToolHost({ address: `unix:${socket}`, key: testKey });
    const session = await remote.openSession({
      sessionId: "killed",
      workspaceDir: join(directory.path, "workspace"),
      stateDir: join(directory.path, `state-${isStarting}`),
      tools: [{ name: "browser_tool_set" }],
    });
    const opened = session.execute({
      actionId: "open",
      tool: "browser_navigate",
      action: { kind: "BrowserNavigateAction", url: "data:text/html,<title>Here</title>" },
      secrets: [],
    });
    if (isStarting)
      await expect.poll(() => findChromium(child.pid!).length, { interval: 5 }).toBeGreaterThan(0);
    else expect(JSON.stringify(await opened)).toContain("Title: Here");
    const processes = findChromium(child.pid!);
    expect(processes.length).toBeGreaterThan(isStarting ? 0 : 2);
    child.kill("SIGKILL");
    await once(child, "exit");
    await expect.poll(() => stillRunning(processes)).toEqual([]);
    await expect.poll(() => findMarkedProcesses(`${guardianVariable}=${marker}`)).toEqual([]);
    remote.detach();
    // It ends with its host, which is gone.
    await opened.catch(() => {});
  }
});
