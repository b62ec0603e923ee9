import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { testedPrograms } from "@convoke/server/testing";
import { expect, onTestFinished, test } from "vitest";

const { command } = testedPrograms();
const goodbye = "Stopping. Unfinished runs resume at the next start.\n";

/** A server that is ready. */
async function serve(...options: string[]) {
  const folder = await openTemporaryDirectory();
  const words = [command, "serve", "--port", "0", "--sandbox", "off", "--wall", "off", ...options];
  const child = spawn(process.execPath, words, {
    cwd: folder.path,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder.path },
  });
  onTestFinished(async () => {
    await end(child);
    await folder[Symbol.asyncDispose]();
  });
  const started = { child, text: "", errors: "", ended: once(child, "close"), folder: folder.path };
  child.stdout.on("data", (bytes: Buffer) => (started.text += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (started.errors += bytes.toString()));
  await expect.poll(() => started.text).toContain("try    curl");
  return started;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "one %s ends a server in order, with code 0",
  async (signal) => {
    const server = await serve();
    server.child.kill(signal);
    expect(await server.ended).toEqual([0, null]);
    expect(server.text).toContain(goodbye);
    expect(server.errors).toBe("");
    expect(await readdir(join(server.folder, ".convoke/running"))).toEqual([]);
  },
);

// Which of two pending signals Node reports first is not defined: here it does not matter. "until-signalled.test.ts" has the other pairs.
test("SIGTERM and then SIGINT end it at once, with code 130", async () => {
  const server = await serve();
  // Both are there before it has done anything about the first one.
  server.child.kill("SIGSTOP");
  await expect.poll(() => stateOf(server.child)).toBe("T");
  for (const signal of ["SIGTERM", "SIGINT", "SIGCONT"] as const) server.child.kill(signal);
  expect(await server.ended).toEqual([130, null]);
});

test("SIGUSR1 does nothing: no debugger is opened, by no process", async () => {
  const server = await serve("--processes", "2");
  const pids = [server.child.pid ?? 0, ...(await childrenOf(server.child))];
  expect(pids.length).toBeGreaterThanOrEqual(3);
  for (const pid of pids) process.kill(pid, "SIGUSR1");
  const url = /listening on (\S+)/.exec(server.text)?.[1];
  expect((await fetch(`${url}/alive`)).status).toBe(200);
  // A terminal sends it to all of them.
  for (const pid of pids) process.kill(pid, "SIGHUP");
  expect(await server.ended).toEqual([0, null]);
  expect(server.errors).not.toContain("Debugger");
  expect(server.text).toContain(goodbye);
});

test("a server whose terminal is closed ends in order, although nobody reads what it says", async () => {
  await using folder = await openTemporaryDirectory();
  const running = join(folder.path, ".convoke/running");
  const line = [
    process.execPath,
    command,
    "serve",
    "--port=0",
    "--sandbox=off",
    "--wall=off",
    "--log-level=debug",
  ];
  const terminal = spawn("script", ["--quiet", "--flush", "--command", line.join(" "), "/dev/null"], {
    env: { PATH: process.env["PATH"] ?? "", HOME: folder.path, SHELL: "/bin/sh" },
  });
  onTestFinished(async () => end(terminal));
  let text = "";
  terminal.stdout.on("data", (bytes: Buffer) => (text += bytes.toString()));
  await expect.poll(() => text).toContain("try    curl");
  const [name = ""] = await readdir(running);
  const pid = Number.parseInt(name, 10);
  await end(terminal);
  await expect.poll(() => readState(pid)).toBeNull();
  // One that was killed, or that fell over a failed write, leaves it.
  expect(await readdir(running)).toEqual([]);
});

async function childrenOf({ pid }: ChildProcess): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.trim().split(" ").map(Number);
}

const stateOf = ({ pid = 0 }: ChildProcess): Promise<string | null> => readState(pid);

/** The kernel's letter for what it does; null when there is no such process. */
async function readState(pid: number): Promise<string | null> {
  try {
    return /\) (\w) /.exec(await readFile(`/proc/${pid}/stat`, "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}
