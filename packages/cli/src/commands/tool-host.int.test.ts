import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectToolHost } from "@convoke/tool-host";
import { testedPrograms } from "@convoke/server/testing";
import { expect, onTestFinished, test } from "vitest";

const { command } = testedPrograms();

test("P14: convoke tool-host: says where it is, serves, and ends with its tools at SIGTERM", async () => {
  const bench = await openBench();
  const host = await bench.start(["--socket", bench.at("host.sock"), "--state-dir", bench.at("state")]);
  expect(host.line).toEqual({ address: `unix:${bench.at("host.sock")}`, pid: host.child.pid });
  expect((await stat(bench.at("host.sock"))).mode & 0o777).toBe(0o600);
  expect((await stat(bench.at("key"))).mode & 0o777).toBe(0o600);
  const key = (await readFile(bench.at("key"), "utf8")).trim();
  await using remote = await connectToolHost({ address: host.line.address, key });
  expect(remote.catalogue).toContain("terminal");
  const spec = {
    sessionId: "s",
    workspaceDir: bench.at("work"),
    stateDir: "/nowhere",
    tools: [{ name: "terminal" }],
  };
  const session = await remote.openSession(spec);
  const execute = async (actionId: string, text: string) => {
    const action = { kind: "TerminalAction", command: text } as const;
    return session.execute({ actionId, tool: "terminal", action, secrets: [] });
  };
  expect(JSON.stringify(await execute("a", "echo one-$((1 + 1))"))).toContain("one-2");
  expect((await stat(bench.at("state/s/executions.sqlite"))).isFile()).toBe(true);
  const held = execute("b", "sleep 300");
  await expect.poll(async () => session.state("b")).toEqual({ type: "running" });
  host.child.kill("SIGTERM");
  expect(await once(host.child, "exit")).toEqual([0, null]);
  // What the terminal could tell when it was stopped, or that it was: never a lost call.
  expect(await held).toMatchObject({ type: expect.stringMatching(/^(observation|cancelled)$/) });
  await expect(stat(bench.at("host.sock"))).rejects.toThrow("ENOENT");
});

test("without --exit-with-parent the end of its input and output ends nothing; with it, it ends", async () => {
  const bench = await openBench();
  const survivor = await bench.start(["--port", "0"]);
  const key = (await readFile(bench.at("key"), "utf8")).trim();
  survivor.child.stdin.destroy();
  survivor.child.stdout.destroy();
  survivor.child.stderr.destroy();
  const wrongKey = connectToolHost({ address: survivor.line.address, key: "x".repeat(20) });
  await expect(wrongKey).rejects.toThrow("key");
  await using remote = await connectToolHost({ address: survivor.line.address, key });
  expect(remote.catalogue).toContain("terminal");
  const follower = await bench.start(["--port", "0", "--exit-with-parent"]);
  follower.child.stdin.end();
  expect(await once(follower.child, "exit")).toEqual([0, null]);
  expect(survivor.child.exitCode).toBeNull();
});

test("security 7: no signal opens a debugger in the tool host", async () => {
  const bench = await openBench();
  const host = await bench.start(["--socket", bench.at("host.sock"), "--state-dir", bench.at("state")]);
  let printed = "";
  host.child.stderr.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  host.child.kill("SIGUSR1");
  const key = (await readFile(bench.at("key"), "utf8")).trim();
  await using remote = await connectToolHost({ address: host.line.address, key });
  expect(remote.catalogue).toContain("terminal");
  host.child.kill("SIGTERM");
  expect(await once(host.child, "exit")).toEqual([0, null]);
  expect(printed).not.toContain("Debugger");
});

test("security 41: a tool host whose folder is gone ends, with what it runs", async () => {
  const bench = await openBench();
  await mkdir(bench.at("run"));
  const host = await bench.start(["--socket", bench.at("run/host.sock"), "--state-dir", bench.at("state")]);
  await rm(bench.at("run"), { recursive: true });
  expect(await once(host.child, "exit")).toEqual([0, null]);
});

test("P31: with --root nothing else is shown", async () => {
  const bench = await openBench();
  const host = await bench.start(["--port", "0", "--root", bench.at("")]);
  const key = (await readFile(bench.at("key"), "utf8")).trim();
  await using remote = await connectToolHost({ address: host.line.address, key });
  await expect(remote.workspace.readFile("/etc/passwd")).rejects.toMatchObject({ code: "outside-root" });
});

test("wrong usage is told in a sentence with exit code 2", async () => {
  const bench = await openBench();
  expect(await bench.fail([])).toMatchObject({
    code: 2,
    text: expect.stringContaining("--socket or --port"),
  });
  await writeFile(bench.at("key"), "short");
  expect(await bench.fail(["--port", "0"])).toMatchObject({
    code: 2,
    text: expect.stringContaining("too short"),
  });
});

async function openBench() {
  const dir = await mkdtemp(join(tmpdir(), "convoke-test-"));
  onTestFinished(async () => rm(dir, { recursive: true, force: true }));
  const at = (name: string): string => join(dir, name);
  const launch = (options: readonly string[]) => {
    const child = spawn(process.execPath, [
      command,
      "tool-host",
      "--key-file",
      at("key"),
      "--json",
      ...options,
    ]);
    onTestFinished(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    return child;
  };
  return {
    at,
    start: async (options: readonly string[]) => {
      const child = launch(options);
      const [bytes] = (await once(child.stdout, "data")) as [Buffer];
      return { child, line: JSON.parse(bytes.toString()) as { address: string; pid: number } };
    },
    fail: async (options: readonly string[]) => {
      const child = launch(options);
      let text = "";
      child.stderr.on("data", (bytes: Buffer) => (text += bytes.toString()));
      const [code] = (await once(child, "close")) as [number | null];
      return { code, text };
    },
  };
}
