import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { connectToolHost } from "@convoke/tool-host";
import { findToolHostProgram } from "../../packages/cli/src/find-tool-host-program.ts";
import { createBubblewrapBackend } from "../../packages/server/src/sandboxes/bubblewrap.ts";
import { openControlGroups } from "../../packages/server/src/sandboxes/control-groups/open-control-groups.ts";
import { findBubblewrap } from "../../packages/server/src/sandboxes/find-bubblewrap.ts";
import { createProcessBackend } from "../../packages/server/src/sandboxes/process.ts";
import { createTestWays } from "../../packages/server/src/sandboxes/testing/test-ways.ts";
import type { SandboxBackend, SandboxSpec } from "../../packages/server/src/sandboxes/sandbox.ts";
import type { ToolHostProgram } from "../../packages/server/src/sandboxes/tool-host-program.ts";
import { buildCommand } from "../../scripts/build-command.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { call, firstCall } from "./first-call.ts";
import { measureFirstTurns } from "./first-turn.ts";
import { measureWalls } from "./walls.ts";
import { measureWarm } from "./warm.ts";

/** B12: from the request for a sandbox, cold and warm, to the answer of its first tool call; and the overhead of a further call. */
export async function run(): Promise<BenchResult[]> {
  const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const unprivileged = { uid: 65_534, gid: 65_534 };
  const probe = await findBubblewrap({ self, unprivileged, environment: process.env });
  if (!probe.isUsable) {
    console.error(`no bubblewrap here: ${probe.detail}`);
    return [];
  }
  // Inside the checkout, so that the built command finds the packages outside the bundle.
  const cache = resolve(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const buildDir = mkdtempSync(join(cache, "convoke-bench-"));
  const folder = mkdtempSync(join(tmpdir(), "convoke-bench-"));
  try {
    await buildCommand(root, buildDir);
    await chmod(folder, 0o711);
    const sandboxesDir = join(folder, "sandboxes");
    await mkdir(sandboxesDir, { mode: 0o711 });
    await using ways = createTestWays("registries");
    const depsOf = (program: ToolHostProgram) => ({
      sandboxesDir,
      installationId: "bench",
      program,
      environment: process.env,
      ways,
      connect: ({ address, key }: { address: string; key: string }) => connectToolHost({ address, key }),
      openControlGroups: () => openControlGroups({ uid: self.uid, environment: process.env }),
    });
    const bundle = findToolHostProgram(join(buildDir, "lib", "cli-sandbox-host.js"));
    const bubblewrap = { self, unprivileged };
    // As in a built command, without types to strip.
    const forwarderFile = join(buildDir, "lib", "server-sandboxes-port-forwarder.js");
    const built = createBubblewrapBackend({ ...depsOf(bundle), ...bubblewrap, forwarderFile });
    const inBundle = await measure(built, folder);
    const warmMs = await measureWarm(built, ways, sandboxesDir);
    const inSources = await measure(
      createBubblewrapBackend({ ...depsOf(findToolHostProgram()), ...bubblewrap }),
      folder,
    );
    const walls = join(folder, "walls");
    const wallMs = await measureWalls(bundle, walls, "registries");
    const plain = await measure(createProcessBackend(depsOf(bundle)), folder);
    const toResult = (id: string, name: string, value: number): BenchResult => ({
      id,
      name,
      value,
      unit: "ms",
    });
    const beside = { name: "the same in a plain process", value: plain.startMs };
    return [
      {
        ...toResult(
          "B12.cold",
          "bubblewrap, bundle: order to first tool call answered: median",
          inBundle.startMs,
        ),
        baseline: beside,
      },
      toResult("B12.warm", "the same, one of the bundle is kept ready: median", warmMs),
      ...(await measureFirstTurns()),
      toResult("B12.wall", "a wall with a way out, bundle: order to first tool call: median", wallMs),
      {
        ...toResult(
          "B12.sources",
          "bubblewrap, sources: order to first tool call: median",
          inSources.startMs,
        ),
        baseline: beside,
      },
      {
        ...toResult(
          "B12.call",
          "a further call beyond one in a plain process: median",
          inBundle.callMs - plain.callMs,
        ),
        baseline: { name: "a call in a plain process", value: plain.callMs },
      },
    ];
  } finally {
    rmSync(buildDir, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

const root = resolve(import.meta.dirname, "../..");
const roundCount = 7;
const callCount = 20;

async function measure(
  backend: SandboxBackend,
  folder: string,
): Promise<{ startMs: number; callMs: number }> {
  const starts: number[] = [];
  const calls: number[] = [];
  for (let round = 0; round <= roundCount; round += 1) {
    const id = `${backend.name}-${round}`;
    const spec: SandboxSpec = {
      id,
      workspaceDir: join(folder, "sandboxes", id, "workspace"),
      environment: {},
      limits: { memoryMb: 1_024, cpus: 1, pids: 256 },
      network: "on",
    };
    const startedAt = performance.now();
    const handle = await backend.start({
      spec,
      keys: { toolHost: "bench-key-of-a-sandbox", authority: "bench authority" },
      onProgress: () => {},
      signal: new AbortController().signal,
    });
    const host = await handle.connect();
    try {
      const { workspaceDir, stateDir } = handle;
      const session = await firstCall(host, { workspaceDir, stateDir: join(stateDir, "bench") });
      // The first round fills the file system's caches.
      if (round > 0) starts.push(performance.now() - startedAt);
      for (let number = 0; number < callCount; number += 1) {
        const callAt = performance.now();
        await call(session, `call-${number}`);
        if (round > 0) calls.push(performance.now() - callAt);
      }
    } finally {
      host.detach();
      await backend.remove(id);
    }
  }
  return { startMs: percentile(starts, 0.5), callMs: percentile(calls, 0.5) };
}

if (import.meta.main) console.table(await run());
