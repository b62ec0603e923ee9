import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { FleetSandboxes } from "../../packages/server/src/app-conversations/fleet-sandboxes.ts";
import { silentLogger } from "../../packages/server/src/lib/logger.ts";
import { openSandboxFleet } from "../../packages/server/src/sandboxes/sandbox-fleet.ts";
import type { SandboxWays } from "../../packages/server/src/sandboxes/sandbox-ways.ts";
import { openSqliteSandboxStore } from "../../packages/server/src/sandboxes/sqlite-sandbox-store.ts";
import type { SandboxBackend } from "../../packages/server/src/sandboxes/sandbox.ts";
import { createSecretBox } from "../../packages/server/src/security/seal.ts";
import { percentile } from "../journal/percentile.ts";
import { firstCall } from "./first-call.ts";
import { systemClock } from "../../packages/server/src/lib/clock.ts";

const roundCount = 7;
/** A server creates the next warm sandbox a second after the last start; that must not overlap the measured first call. */
const restMs = 500;

/** Time from the request for a sandbox to its first tool call, with a warm one: the median in milliseconds. */
export async function measureWarm(
  backend: SandboxBackend,
  ways: SandboxWays,
  sandboxesDir: string,
): Promise<number> {
  const fleet = await openSandboxFleet({
    backends: [backend],
    store: openSqliteSandboxStore(":memory:"),
    secretBox: createSecretBox(randomBytes(32)),
    clock: systemClock,
    logger: silentLogger,
  });
  const limits = { memoryMb: 1_024, cpus: 1, pids: 256 };
  await using sandboxes = new FleetSandboxes({
    fleet,
    ways,
    templates: [{ backend: backend.name, limits, network: "on", environment: {}, warm: 1 }],
    sandboxesDir,
    summary: "",
    templatesSinceMs: 0,
    warm: { logger: silentLogger, times: { restMs } },
  });
  const untilReady = async (): Promise<void> => {
    for (;;) {
      const id = sandboxes.reserve(backend.name);
      if (id !== null) return sandboxes.unreserve(id);
      // A request delays the creation of the next one.
      await delay(2 * restMs);
    }
  };
  const starts: number[] = [];
  for (let round = 0; round <= roundCount; round += 1) {
    await untilReady();
    const startedAt = performance.now();
    const { id } = await sandboxes.start("user", backend.name);
    const { toolHost, workspaceDir, stateDir } = await sandboxes.openHost(id);
    await firstCall(toolHost, { workspaceDir, stateDir: join(stateDir, "bench") });
    // The first round fills the file system's caches.
    if (round > 0) starts.push(performance.now() - startedAt);
    await sandboxes.remove("user", id);
  }
  return percentile(starts, 0.5);
}
