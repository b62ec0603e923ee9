import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { escapeAttempts, type EscapeTargets } from "./escape-attempts.ts";

/**
 * What the last line of each attempt said, by its name. `folder` is the working folder, outside; `run` runs a command in it, inside. Only
 * those with these names, unless all.
 */
export async function runEscapes(
  targets: EscapeTargets,
  folder: string,
  run: (command: string) => Promise<unknown>,
  names: readonly string[] | null = null,
): Promise<ReadonlyMap<string, string>> {
  const attempts = escapeAttempts(targets).filter(([name]) => names?.includes(name) !== false);
  const script = attempts.map(
    ([, command], index) =>
      `out=$( (timeout 20 bash -c ${quote(command)}) 2>&1 | tail -1); echo "attempt ${index}: $out"`,
  );
  await writeFile(join(folder, "attempts.sh"), script.join("\n"));
  // In a session of its own: one attempt kills everything that it may.
  await run("setsid -w bash attempts.sh > results.txt 2>&1; true");
  const printed = await readFile(join(folder, "results.txt"), "utf8");
  return new Map(
    attempts.map(([name], index) => [
      name,
      new RegExp(`^attempt ${index}: (.*)$`, "m").exec(printed)?.[1] ?? "not run",
    ]),
  );
}

/** Opens what the attempts aim at, beside a data folder, until `scope` is disposed. */
export async function openEscapeTargets(
  dataDir: string,
  scope: AsyncDisposableStack,
): Promise<Omit<EscapeTargets, "home" | "workspace" | "programFiles" | "ownFiles">> {
  const secret = `secret-${Math.random().toString(36).slice(2)}`;
  const secretFile = join(dataDir, "master-key");
  await writeFile(secretFile, secret, { mode: 0o600 });
  const otherDir = join(dataDir, "sandboxes", "other", "workspace");
  await mkdir(otherDir, { recursive: true });
  await writeFile(join(otherDir, "mine"), "x");
  const openDir = await mkdtemp(join(tmpdir(), "convoke-open-"));
  await chmod(openDir, 0o777);
  scope.defer(() => rm(openDir, { recursive: true, force: true }));
  const sleeper = spawn("sleep", ["600"], { stdio: "ignore" });
  scope.defer(() => void sleeper.kill("SIGKILL"));
  const tcp = createServer((socket) => socket.destroy()).listen(0, "0.0.0.0");
  const unixSocket = join(openDir, "service.sock");
  const unix = createServer((socket) => socket.destroy()).listen(unixSocket);
  const abstractSocket = `convoke-test-${process.pid}-${openDir.slice(-6)}`;
  const abstract = createServer((socket) => socket.destroy()).listen(`\0${abstractSocket}`);
  for (const server of [tcp, unix, abstract]) {
    scope.use(closing(server));
    if (!server.listening) await once(server, "listening");
  }
  await chmod(unixSocket, 0o777);
  return {
    dataDir,
    secretFile,
    secret,
    otherDir,
    hostPid: sleeper.pid ?? 0,
    tcpPort: (tcp.address() as { port: number }).port,
    unixSocket,
    abstractSocket,
    openDir,
  };
}

export function closing(server: Server): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
