import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SandboxBackend } from "../../sandbox.ts";
import { SandboxBench } from "../sandbox-bench.ts";
import type { EscapeAttempt } from "./escape-attempt.ts";
import { escapeAttempts } from "./escape-attempts.ts";
import type { PlaceResults } from "./escape-table.ts";
import { fillHome, insideSandbox, openEscapeTargets } from "./escape-targets.ts";
import { laterAttempts, linkedAttempts } from "./later-attempts.ts";
import { runInCopy, whyNoCopy } from "./machine-copy.ts";
import { openLaterFolder } from "./open-later-folder.ts";
import { runEscapes } from "./run-escapes.ts";

const run = promisify(execFile);
const randomSecret = (): string => `secret-${Math.random().toString(36).slice(2)}`;

/** On this machine without a wall, and in a copy of it where one can be made. */
export async function escapeWithout(): Promise<PlaceResults> {
  await using scope = new AsyncDisposableStack();
  const root = await mkdtemp(join(tmpdir(), "convoke-bare-"));
  scope.defer(() => rm(root, { recursive: true, force: true }));
  const [dataDir, folder, home] = [join(root, "data"), join(root, "shop"), join(root, "home/me")];
  const linked = join(root, "linked");
  await mkdir(dataDir);
  const secret = randomSecret();
  await fillHome(home, secret);
  await openLaterFolder(folder, linked, join(root, "scratch"));
  const opened = await openEscapeTargets({ dataDir, secret, home }, scope);
  const targets = { ...opened, ...insideSandbox, workspace: folder };
  const attempts = escapeAttempts(targets);
  const of = (bare: EscapeAttempt["bare"]) => attempts.filter((attempt) => attempt.bare === bare);
  const bash = (cwd: string) => (command: string) => run("bash", ["-c", command], { cwd, timeout: 240_000 });
  const results = [
    await runEscapes(of("machine"), folder, bash(folder)),
    // One after another: each leaves the folder as it was.
    await runEscapes(laterAttempts, folder, bash(folder), 1),
    await runEscapes(linkedAttempts, linked, bash(linked), 1),
  ];
  if ((await whyNoCopy()) === null)
    results.push(await runEscapes(of("copy"), folder, (command) => runInCopy(targets, folder, command)));
  return new Map(results.flatMap((map) => [...map]));
}

/** In a sandbox with the widest view that it has. */
export async function escapeFromSandbox(
  createBackend: (bench: SandboxBench) => SandboxBackend,
): Promise<PlaceResults> {
  await using scope = new AsyncDisposableStack();
  const bench = scope.use(await SandboxBench.open(createBackend));
  bench.policy = "all";
  bench.restart();
  const root = await mkdtemp(join(tmpdir(), "convoke-home-"));
  scope.defer(() => rm(root, { recursive: true, force: true }));
  const [secret, home] = [randomSecret(), join(root, "me")];
  await fillHome(home, secret);
  const targets = await openEscapeTargets({ dataDir: bench.dataDir, secret, home }, scope);
  const terminal = await bench.openTerminal(await bench.start({ network: "on" }));
  return await runEscapes(
    escapeAttempts({ ...targets, ...insideSandbox }),
    bench.spec().workspaceDir,
    (command) => terminal.run(command, 240),
  );
}
