import { spawn } from "node:child_process";
import { symlink, unlink } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBubblewrapBackend } from "./bubblewrap.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";
import { SandboxBench } from "./testing/sandbox-bench.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const probe = await findBubblewrap({ self, unprivileged, environment: process.env });
describe.skipIf(!probe.isUsable)(`needs a working bubblewrap (${probe.detail})`, () => {
  const scope = new AsyncDisposableStack();
  let bench: SandboxBench;

  beforeAll(async () => {
    bench = scope.use(
      await SandboxBench.open((opened) => createBubblewrapBackend({ ...opened.deps, self, unprivileged })),
    );
  });

  afterAll(() => scope.disposeAsync());

  test("escape: a link in the place of the way in to ports, or of the tool host's socket, leads nowhere", async () => {
    const handle = await bench.start({ id: "three" });
    const terminal = await bench.openTerminal(handle);
    const received: string[] = [];
    const trap = join(bench.dataDir, "trap.sock");
    const server = createServer((socket) =>
      socket.on("data", (bytes) => received.push(bytes.toString("latin1"))),
    ).listen(trap);
    scope.defer(() => void server.close());
    await terminal.run(`cd /run/convoke; rm ports.sock; ln -s ${trap} ports.sock`);
    await expect(handle.connectPort(80)).rejects.toThrow("replaced");
    expect(received).toEqual([]);
    await terminal.run(`cd /run/convoke; rm host.sock; ln -s ${trap} host.sock`);
    await handle.health();
    expect(received.join("")).not.toContain(bench.key);
  });

  test("escape: killing everything ends only the sandbox itself, which can be started again", async () => {
    // Of the same user as what kills.
    const become = self.uid === 0 ? ["setpriv", "--reuid", "65534", "--clear-groups"] : [];
    const outside = spawn("env", [...become, "sleep", "600"], { stdio: "ignore" });
    scope.defer(() => void outside.kill("SIGKILL"));
    const handle = await bench.start({ id: "five" });
    const terminal = await bench.openTerminal(handle);
    await expect(terminal.run("perl -e 'kill 9, -1'")).rejects.toThrow();
    expect(outside.exitCode ?? outside.signalCode).toBeNull();
    await expect.poll(async () => (await handle.health()).state).toBe("stopped");
    await bench.start({ id: "five" });
  });

  test("escape: a workspace that is a link to a directory of somebody else is that directory or refused, never root's", async () => {
    if (self.uid !== 0) return;
    const link = join(bench.dataDir, "link");
    await symlink("/etc", link);
    await expect(bench.start({ id: "four", workspaceDir: link })).rejects.toThrow("belongs to user 0");
    await unlink(link);
  });
});
