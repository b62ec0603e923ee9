import { release } from "node:os";
import { describe, expect, test } from "vitest";
import { DockerBackend } from "./docker.ts";
import { findContainerEngine } from "./open-sandbox.ts";
import { SandboxBench } from "./testing/sandbox-bench.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const socketPath = process.env["CONVOKE_TEST_ENGINE_SOCKET"] ?? "/var/run/docker.sock";
const image = process.env["CONVOKE_TEST_ENGINE_IMAGE"] ?? "convoke-sandbox:offline";
const engine = await findContainerEngine({ socketPath, image });
const openBench = (): Promise<SandboxBench> =>
  SandboxBench.open(({ deps }) => new DockerBackend({ ...deps, socketPath, image, self, unprivileged }));

describe.skipIf(!engine.isUsable)(`a runtime needs a container engine (${engine.detail})`, () => {
  test("one that the engine does not have is a reason, and leaves nothing", async () => {
    await using bench = await openBench();
    await expect(bench.start({ runtime: "no-such-runtime" })).rejects.toThrow(/no-such-runtime/);
    expect(await bench.backend.listOwned()).toEqual([]);
  });

  const hasGvisor = engine.runtimes?.includes("runsc") === true;
  const found = engine.runtimes?.join(", ") ?? "none";
  test.skipIf(!hasGvisor)(`gVisor runs the tools (needs runsc; the engine has ${found})`, async () => {
    await using bench = await openBench();
    const handle = await bench.start({
      runtime: "runsc",
      // gVisor's own threads count.
      limits: { memoryMb: 1_024, cpus: 1, pids: 1_024 },
    });
    const terminal = await bench.openTerminal(handle);
    // A kernel of its own.
    expect(await terminal.run("cat /proc/version")).not.toContain(release());
    expect(await terminal.run("echo one > file && git init -q . && cat file")).toContain("one");
    const listening = "require('net').createServer((s) => s.end('inside')).listen(8124)";
    await terminal.run(`node -e "${listening}" > /dev/null 2>&1 & sleep 1`);
    expect(String(await (await handle.connectPort(8124)).toArray())).toBe("inside");
  });
});
