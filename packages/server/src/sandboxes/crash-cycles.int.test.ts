import { fork } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { listProcesses, readCommandLine } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import { createBubblewrapBackend } from "./bubblewrap.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";
import { createProcessBackend } from "./process.ts";
import { reconcile } from "./reconcile.ts";
import { SandboxBench } from "./testing/sandbox-bench.ts";
import type { StartOrderOfTest } from "./testing/start-until-killed.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const probe = await findBubblewrap({ self, unprivileged, environment: process.env });
/** The promise is about 500; the guide says how they are run. */
const cycleCount = Number(process.env["CONVOKE_TEST_CRASH_CYCLES"] ?? 3);
const moments = ["connecting", "launching", "running", "preparing"];

test.skipIf(!probe.isUsable)(
  `P25: after ${cycleCount} servers that were killed at all moments of a start the next one leaves nothing of theirs`,
  { timeout: 240_000 + cycleCount * 20_000 },
  async () => {
    await using bench = await SandboxBench.open(({ deps }) =>
      createBubblewrapBackend({ ...deps, self, unprivileged }),
    );
    const backends = [bench.backend, createProcessBackend(bench.deps)];
    const removed = new Set<string>();
    const leaving: string[] = [];
    for (let cycle = 0; cycle < cycleCount; cycle++) {
      const id = `lost-${cycle}`;
      const moment = moments[cycle % moments.length] ?? "";
      await startAndKill(bench, cycle % 3 === 2 ? "process" : "bubblewrap", id, moment);
      // One that has only begun to prepare may have left nothing yet.
      if (moment !== "preparing") leaving.push(id);
      // A server does not always come back before the next one is killed.
      if (cycle % 2 === 0 && cycle < cycleCount - 1) continue;
      const store = { list: async () => [] };
      for (const stray of await reconcile({ backends, store, logger: silentLogger })) removed.add(stray);
    }
    expect(leaving.filter((id) => !removed.has(id))).toEqual([]);
    expect(await readdir(join(bench.dataDir, "sandboxes"))).toEqual([]);
    await expect.poll(() => findTraces(bench.deps.installationId)).toEqual([]);
    expect(await readFile("/proc/self/mountinfo", "utf8")).not.toContain(bench.dataDir);
  },
);

/** Resolves when the server has ended, at the moment that it had said. */
async function startAndKill(
  bench: SandboxBench,
  backend: StartOrderOfTest["backend"],
  id: string,
  moment: string,
): Promise<void> {
  const { connect: _, ways: __, environment, ...deps } = bench.deps;
  const { PATH } = environment;
  const server = fork(join(import.meta.dirname, "testing", "start-until-killed.ts"), {
    env: { PATH },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const { workspaceDir } = bench.spec({ id });
  const reached = Promise.withResolvers<void>();
  server.on("message", (message) => {
    if (message === moment) reached.resolve();
  });
  const ended = once(server, "exit");
  server.send({
    backend,
    deps: { ...deps, environment: { PATH } },
    id,
    workspaceDir,
  } satisfies StartOrderOfTest);
  await Promise.race([reached.promise, ended]);
  server.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
}

function findTraces(installationId: string): string[] {
  return listProcesses()
    .filter(({ state }) => state !== "Z")
    .flatMap(({ pid }) => readCommandLine(pid)?.replaceAll("\0", " ") ?? [])
    .filter(
      (line) => line.includes(`convoke-sbx-${installationId}`) || line.includes(`${installationId}.lost`),
    );
}
