import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { listProcesses, readCommandLine } from "@convoke/tool-host";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { SandboxBackend, SandboxHandle, StartPhase } from "./sandbox.ts";
import { canary, SandboxBench, type SandboxTerminal } from "./testing/sandbox-bench.ts";
import { fetchScript, portScript, searchScript, spawnScript } from "./testing/contract-programs.ts";

export type BackendTraits = {
  readonly name: string;
  readonly create: (bench: SandboxBench) => SandboxBackend;
  /** False where a sandbox is an ordinary process of the same user. */
  readonly isIsolated: boolean;
  /** False where the engine cannot limit or pause for want of control groups. */
  readonly hasControlGroups?: boolean;
  /** Who owns what the agent makes. */
  readonly uid: number;
};

/** What every backend must do. */
export function describeSandboxBackend(traits: BackendTraits): void {
  const { name, create, isIsolated, uid, hasControlGroups = true } = traits;

  async function openBench(): Promise<SandboxBench> {
    const bench = await SandboxBench.open(create);
    onTestFinished(() => bench[Symbol.asyncDispose]());
    return bench;
  }

  describe(`${name} sandboxes`, () => {
    describe("one that runs", () => {
      const phases: StartPhase[] = [];
      let bench: SandboxBench;
      let handle: SandboxHandle;
      let terminal: SandboxTerminal;

      beforeAll(async () => {
        bench = await SandboxBench.open(create);
        const { workspaceDir } = bench.spec();
        await mkdir(join(workspaceDir, "given"), { recursive: true });
        await writeFile(join(workspaceDir, "given", "in.txt"), "from outside");
        const environment = { WORKER_1: "8011", GREETING: "two words, one", LC_ALL: "C.UTF-8" };
        handle = await bench.start({ environment }, (phase) => phases.push(phase));
        terminal = await bench.openTerminal(handle);
      });
      afterAll(() => bench[Symbol.asyncDispose]());

      test("P22: a start tells its phases, and resolves when a command can run", async () => {
        expect([...new Set(phases)]).toEqual(["preparing", "launching", "connecting"]);
        expect(await handle.health()).toEqual({ state: "running", detail: null });
        expect(await terminal.run("echo $((6 * 7))")).toContain("42");
      });

      test("P50: the workspace is shared both ways and its files belong to the user of the sandbox, never to root unless asked", async () => {
        const made = join(bench.spec().workspaceDir, "made", "out.txt");
        expect(await terminal.run("cat given/in.txt; mkdir made; echo inside > made/out.txt; id -u")).toMatch(
          new RegExp(`from outside[^]*${uid}`),
        );
        expect(await readFile(made, "utf8")).toBe("inside\n");
        expect((await stat(made)).uid).toBe(uid);
      });

      test("issue 11.4: a person takes the terminal inside, works in it, and gives it back", async () => {
        await terminal.run("here=agent; echo said by $here");
        await using person = terminal.attach();
        await person.sees("said by agent");
        await person.take({ columns: 70, rows: 20 });
        await person.sees(/[$#]$/m);
        person.press("here=person; stty size; pwd\r");
        await person.sees(/^20 70$/m);
        await person.give();
        expect(await terminal.run("echo then $here")).toContain("then person");
      });

      test("variables of the order reach the commands inside", async () => {
        expect(await terminal.run('echo "$WORKER_1 $GREETING"')).toContain("8011 two words, one");
      });

      test("P13, W9: neither the server's secrets nor the sandbox's key are in any environment, argument or file it can read", async () => {
        const seen = await terminal.run(
          "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c . ",
        );
        expect(seen).toContain("LC_ALL=C.UTF-8");
        expect(seen).not.toContain(canary);
        if (isIsolated) {
          const reversed = [canary, bench.key].map((text) => text.split("").toReversed().join(""));
          expect(await terminal.run(`node -e '${searchScript}' ${reversed.join(" ")}`)).toContain(
            "searched, found 0",
          );
        }
        for (const { pid } of listProcesses()) expect(readCommandLine(pid) ?? "").not.toContain(bench.key);
        const log = await handle.logs(100_000);
        expect(log).not.toContain(bench.key);
        expect(log).not.toContain(canary);
      });

      test("a key that is not the sandbox's opens nothing", async () => {
        const stranger = await bench.backend.reattach(handle.record, {
          ...bench.keys,
          toolHost: "0123456789abcdef-wrong",
        });
        await expect(stranger!.connect()).rejects.toThrow("key");
      });

      test("a port inside can be reached from the server", async () => {
        await terminal.run(`(setsid node -e '${portScript}' >/dev/null 2>&1 &)`);
        const portFile = join(bench.spec().workspaceDir, "port");
        await expect.poll(() => existsSync(portFile)).toBe(true);
        const port = Number(await readFile(portFile, "utf8"));
        const stream = await handle.connectPort(port);
        stream.end("GET /x HTTP/1.0\r\n\r\n");
        let text = "";
        for await (const chunk of stream) text += String(chunk);
        expect(text).toContain("inside /x");
        // A port that nothing is given without being asked for.
        await expect(handle.connectPort(1)).rejects.toThrow();
      });

      test.runIf(isIsolated)("network none: nothing outside of the sandbox can be reached", async () => {
        const server = createServer((_request, reply) => reply.end("host service")).listen(0, "0.0.0.0");
        onTestFinished(() => void server.close());
        await once(server, "listening");
        const { port } = server.address() as { port: number };
        const tries = [
          "127.0.0.1",
          "[::1]",
          "10.0.2.2",
          "host.docker.internal",
          "172.17.0.1",
          "169.254.169.254",
        ];
        const urls = JSON.stringify(tries.map((host) => `http://${host}:${port}`));
        const printed = await terminal.run(
          `node -e 'for (const url of ${urls}) fetch(url).then(() => console.log("REACHED", url), () => console.log("no"))'`,
        );
        expect(printed).not.toContain("REACHED");
        expect(printed.match(/^no$/gm)).toHaveLength(tries.length);
        expect(
          await terminal.run(
            "cat /proc/net/dev | tail -n +3 | grep -v lo: ; cat /proc/net/route | tail -n +2; echo end",
          ),
        ).toMatch(/^end/);
      });
    });

    test.runIf(hasControlGroups)(
      "P24: pause freezes every process, resume continues them where they were",
      async () => {
        const bench = await openBench();
        const { workspaceDir } = bench.spec();
        const handle = await bench.start();
        const terminal = await bench.openTerminal(handle);
        await terminal.run(
          "(setsid bash -c 'n=0; while :; do n=$((n+1)); echo $n > ticks; sleep 0.02; done' >/dev/null 2>&1 &)",
        );
        await terminal.run("sleep 1000 & kill -STOP $!; echo $! > stopped");
        const ticks = async (): Promise<number> =>
          Number(await readFile(join(workspaceDir, "ticks"), "utf8"));
        await expect.poll(ticks).toBeGreaterThan(2);
        const before = hashTree(workspaceDir, ["ticks"]);
        await handle.pause();
        await handle.pause();
        expect(await handle.health()).toEqual({ state: "paused", detail: null });
        await expect(handle.connect()).rejects.toThrow("paused");
        const frozen = await ticks();
        await sleep(300);
        expect(await ticks()).toBe(frozen);
        await handle.resume();
        await handle.resume();
        expect(await handle.health()).toEqual({ state: "running", detail: null });
        await expect.poll(ticks).toBeGreaterThan(frozen);
        expect(hashTree(workspaceDir, ["ticks"])).toBe(before);
        expect(await terminal.run("ps -o stat= -p $(cat stopped)")).toContain("T");
      },
    );

    test.runIf(isIsolated)(
      "network on: the server's proxy is the only way out, for the next server too, and none while there is no server",
      async () => {
        await using site = createServer((_request, reply) => reply.end("the site")).listen(0, "127.0.0.1");
        await once(site, "listening");
        const { port } = site.address() as { port: number };
        const bench = await openBench();
        bench.policy = { allow: [`127.0.0.1:${port}`], private: [`127.0.0.1:${port}`] };
        bench.restart();
        const handle = await bench.start({ network: "on" });
        const terminal = await bench.openTerminal(handle);
        // An older Node of the machine knows no proxy. Loopback, too, is to be asked for at the proxy.
        const ask = (address: string): Promise<string> =>
          terminal.run(`PATH=/opt/convoke/bin:$PATH NO_PROXY= no_proxy= node -e '${fetchScript}' ${address}`);
        const refusals = (): string => bench.ways.refusalsSince("one", 0).text;
        const own = `http://127.0.0.1:${port}`;
        const isTrusted = "https://refused.example";
        expect(await terminal.run("tail -n +3 /proc/net/dev | grep -v lo: ; echo end")).toBe("end");
        expect(await ask(own)).toBe("200 the site");
        expect(await ask("http://169.254.169.254")).toMatch(/^failed/);
        expect(refusals()).toContain("169.254.169.254:80 was refused");
        expect(await ask(isTrusted)).toMatch(/^403 .*no rule/);
        await bench.ways[Symbol.asyncDispose]();
        expect(await ask(own)).toMatch(/^failed/);
        bench.restart();
        const again = await bench.backend.reattach(handle.record, bench.keys);
        expect(await ask(own)).toBe("200 the site");
        expect(await ask(isTrusted)).toMatch(/^403 .*no rule/);
        if (!hasControlGroups) return;
        await again!.pause();
        bench.policy = "none";
        bench.restart();
        await (await bench.backend.reattach(handle.record, bench.keys))!.resume();
        expect(await ask(own)).toMatch(/^failed/);
        expect(refusals()).toContain(`127.0.0.1:${port} was refused (no rule)`);
      },
    );

    test("a restarted server finds the sandbox again, running or paused, with the tool's work going on", async () => {
      const bench = await openBench();
      const handle = await bench.start();
      const terminal = await bench.openTerminal(handle);
      await terminal.run("marker=still-here");
      const record = JSON.parse(JSON.stringify(handle.record));
      expect(JSON.stringify(record)).not.toContain(bench.key);
      bench.restart();
      const again = await bench.backend.reattach(record, bench.keys);
      expect(await again?.health()).toEqual({ state: "running", detail: null });
      expect(await (await bench.openTerminal(again!)).run("echo $marker")).toContain("still-here");
      if (!hasControlGroups) return;
      await again!.pause();
      bench.restart();
      const paused = await bench.backend.reattach(record, bench.keys);
      expect(await paused?.health()).toEqual({ state: "paused", detail: null });
      await paused!.resume();
      expect(await (await bench.openTerminal(paused!)).run("echo $marker")).toContain("still-here");
    });

    test("P23: after kill -9 of the tool host health says so, and a new start keeps the files", async () => {
      const bench = await openBench();
      const { workspaceDir } = bench.spec();
      const handle = await bench.start();
      const terminal = await bench.openTerminal(handle);
      await terminal.run("echo kept > kept.txt; (setsid sleep 1000 >/dev/null 2>&1 &)");
      process.kill(toolHostPid(bench), "SIGKILL");
      await expect.poll(async () => (await handle.health()).state).toBe("stopped");
      expect((await handle.health()).detail).toMatch(/tool host/);
      bench.restart();
      const again = await bench.start();
      expect(await (await bench.openTerminal(again, "second")).run("cat kept.txt")).toContain("kept");
      expect(await readFile(join(workspaceDir, "kept.txt"), "utf8")).toBe("kept\n");
    });

    const states = ["running", ...(hasControlGroups ? ["paused"] : []), "stopped", "killed", "never started"];
    test.each(states)(
      "P23, P25: removing a %s sandbox leaves no process, mount or file, and removing it again does nothing",
      async (state) => {
        const bench = await openBench();
        if (state !== "never started") {
          const handle = await bench.start();
          const terminal = await bench.openTerminal(handle);
          await terminal.run(
            "mkdir -p locked/deep; echo x > locked/deep/f; chmod 000 locked; ln -s / root; ",
          );
          // Out of every group and session, with a name that the search below knows.
          await terminal.run(
            `(setsid bash -c 'exec -a ${bench.deps.installationId}-daemon sleep 1000' >/dev/null 2>&1 &)`,
          );
          await expect.poll(() => findTraces(bench).some((line) => line.includes("-daemon"))).toBe(true);
          if (state === "paused") await handle.pause();
          if (state === "stopped") await handle.stop();
          if (state === "killed") process.kill(toolHostPid(bench), "SIGKILL");
        }
        bench.restart();
        await bench.backend.remove("one");
        await bench.backend.remove("one");
        expect(await bench.backend.listOwned()).toEqual([]);
        expect(await readdir(join(bench.dataDir, "sandboxes"))).toEqual([]);
        await expect.poll(() => findTraces(bench)).toEqual([]);
        expect(readMounts(bench)).toEqual([]);
      },
    );

    test("an aborted start leaves nothing running, and can be repeated", async () => {
      const bench = await openBench();
      const abort = new AbortController();
      const starting = bench.backend.start({
        spec: bench.spec(),
        keys: bench.keys,
        onProgress: ({ phase }) => {
          if (phase === "connecting") abort.abort(new Error("given up"));
        },
        signal: abort.signal,
      });
      await expect(starting).rejects.toThrow("given up");
      await expect.poll(() => findTraces(bench)).toEqual([]);
      await bench.start();
    });

    test("P25: what a server that was killed during a start left is listed and removed, another installation's is not", async () => {
      const bench = await openBench();
      const other = await openBench();
      const sibling = await other.start({ id: "one" });
      void bench.start({ id: "lost" }).catch(() => {});
      const isBegun = async (): Promise<boolean> =>
        bench.backend.name === "docker"
          ? (await bench.backend.listOwned()).length > 0
          : findTraces(bench).length > 0;
      // At once: an engine lists a container before it can remove it.
      await expect.poll(isBegun, { interval: 1 }).toBe(true);
      bench.restart();
      expect(await bench.backend.listOwned()).toEqual(["lost"]);
      await bench.backend.remove("lost");
      await expect.poll(() => findTraces(bench)).toEqual([]);
      expect(await bench.backend.listOwned()).toEqual([]);
      expect((await sibling.health()).state).toBe("running");
    });

    describe.runIf(hasControlGroups)("one with little", () => {
      let bench: SandboxBench;
      let handle: SandboxHandle;
      let terminal: SandboxTerminal;

      beforeAll(async () => {
        bench = await SandboxBench.open(create);
        handle = await bench.start({ limits: { memoryMb: 512, cpus: 1, pids: 80 } });
        terminal = await bench.openTerminal(handle);
      });
      afterAll(() => bench[Symbol.asyncDispose]());

      test("a program that needs more memory than it may have ends, and the sandbox goes on", async () => {
        const greedy =
          "node -e 'const a=[]; for(let i=0;i<64;i++) a.push(Buffer.alloc(32<<20,1)); console.log(\"had it all\")'";
        expect(await terminal.run(`${greedy}; echo ended $?`, 60)).not.toContain("had it all");
        expect((await handle.health()).state).toBe("running");
      });

      test.runIf(isIsolated)("more processes than allowed cannot be started", async () => {
        const printed = await terminal.run(`node -e '${spawnScript}'`);
        expect(printed).toMatch(/started \d+/);
        expect(Number(/started (\d+)/.exec(printed)?.[1])).toBeLessThan(80);
        expect((await handle.health()).state).toBe("running");
      });
    });
  });

  function findTraces(bench: SandboxBench): string[] {
    return listProcesses()
      .filter(({ state }) => state !== "Z")
      .flatMap(({ pid }) => readCommandLine(pid)?.replaceAll("\0", " ") ?? [])
      .filter((line) => line.includes(bench.deps.installationId) && !line.includes("vitest"));
  }
}

/** The process that runs `tool-host` with this sandbox's run directory, wherever it sees it. */
function toolHostPid(bench: SandboxBench): number {
  const runDir = join(bench.deps.sandboxesDir, "one", "run");
  const { ino } = statSync(runDir);
  const found = listProcesses().find(({ pid }) => {
    const [program, ...rest] = (readCommandLine(pid) ?? "").split("\0");
    if (program?.endsWith("node") !== true || !rest.includes("tool-host")) return false;
    return (
      rest.includes(join(runDir, "host.sock")) ||
      statSync(`/proc/${pid}/root/run/convoke`, { throwIfNoEntry: false })?.ino === ino
    );
  });
  if (found === undefined) throw new Error(`The tool host of ${bench.dataDir} does not run.`);
  return found.pid;
}

/** Others on this machine mount too; ours show a path of the bench. */
function readMounts(bench: SandboxBench): string[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return mounts.filter((line) => line.includes(bench.dataDir) || line.includes(bench.deps.installationId));
}

function hashTree(dir: string, except: readonly string[]): string {
  const hash = createHash("sha256");
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true }).toSorted((a, b) =>
    a.name.localeCompare(b.name),
  )) {
    if (entry.isFile() && !except.includes(entry.name))
      hash.update(entry.name).update(readFileSync(join(entry.parentPath, entry.name)));
  }
  return hash.digest("hex");
}
