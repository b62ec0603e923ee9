import { spawn } from "node:child_process";
import { symlink, unlink } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBubblewrapBackend } from "./bubblewrap.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";
import { escapeAttempts, insideSandbox } from "./testing/escape-attempts.ts";
import { closing, openEscapeTargets, runEscapes } from "./testing/run-escapes.ts";
import { SandboxBench } from "./testing/sandbox-bench.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const probe = await findBubblewrap({ self, unprivileged, environment: process.env });
const names = escapeAttempts({
  dataDir: "",
  secretFile: "",
  secret: "",
  otherDir: "",
  hostPid: 0,
  tcpPort: 0,
  unixSocket: "",
  abstractSocket: "",
  openDir: "",
  home: "",
  ...insideSandbox,
}).map(([name]) => name);

describe.skipIf(!probe.isUsable || process.arch !== "x64")(
  `needs a working bubblewrap (${probe.detail})`,
  () => {
    const scope = new AsyncDisposableStack();
    let bench: SandboxBench;
    let results: ReadonlyMap<string, string>;
    let secretCanary: string;

    beforeAll(async () => {
      bench = scope.use(
        await SandboxBench.open((opened) => createBubblewrapBackend({ ...opened.deps, self, unprivileged })),
      );
      // The widest view that a sandbox has.
      bench.policy = "all";
      bench.restart();
      const targets = await openEscapeTargets(bench.dataDir, scope);
      secretCanary = targets.secret;
      const terminal = await bench.openTerminal(await bench.start({ network: "on" }));
      results = await runEscapes(
        { ...targets, ...insideSandbox, home: homedir() },
        bench.spec().workspaceDir,
        (command) => terminal.run(command, 240),
      );
    }, 300_000);

    afterAll(() => scope.disposeAsync());

    test.each(names)("escape: %s", (name) => {
      expect(results.get(name)).not.toMatch(/ESCAPED|not run/);
    });

    test("there are at least forty attempts, and one that would succeed outside is seen to", async () => {
      expect(names.length).toBeGreaterThanOrEqual(40);
      expect(new Set(names).size).toBe(names.length);
      const outside = escapeAttempts({
        ...(await openEscapeTargets(bench.dataDir, scope)),
        home: homedir(),
        ...insideSandbox,
      });
      const read = outside.find(([name]) => name === "read the server's secret by its path")!;
      const child = spawn("bash", ["-c", read[1]], { stdio: ["ignore", "pipe", "ignore"] });
      let text = "";
      for await (const chunk of child.stdout) text += String(chunk);
      expect(text).toContain("ESCAPED");
    });

    test("escape: a link in the place of the way in to ports, or of the tool host's socket, leads nowhere", async () => {
      const handle = await bench.start({ id: "three" });
      const terminal = await bench.openTerminal(handle);
      const received: string[] = [];
      const trap = join(bench.dataDir, "trap.sock");
      scope.use(
        closing(
          createServer((socket) =>
            socket.on("data", (bytes) => received.push(bytes.toString("latin1"))),
          ).listen(trap),
        ),
      );
      await terminal.run(`cd /run/convoke; rm ports.sock; ln -s ${trap} ports.sock`);
      await expect(handle.connectPort(80)).rejects.toThrow("replaced");
      expect(received).toEqual([]);
      await terminal.run(`cd /run/convoke; rm host.sock; ln -s ${trap} host.sock`);
      await handle.health();
      expect(received.join("")).not.toContain(bench.key);
      expect(secretCanary).not.toBe("");
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
  },
);
