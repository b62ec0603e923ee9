import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { NetworkPolicy } from "@convoke/protocol";
import { silentLogger } from "../../packages/server/src/lib/logger.ts";
import { openControlGroups } from "../../packages/server/src/sandboxes/control-groups/open-control-groups.ts";
import { ownAccount } from "../../packages/server/src/sandboxes/find-bubblewrap.ts";
import type { ToolHostProgram } from "../../packages/server/src/sandboxes/tool-host-program.ts";
import { createBoundSecretRegistry } from "../../packages/server/src/egress/bound-secret-registry.ts";
import { StartedWalls } from "../../packages/server/src/walls/started-walls.ts";
import { WallContainers } from "../../packages/server/src/walls/wall-containers.ts";
import { percentile } from "../journal/percentile.ts";
import { firstCall } from "./first-call.ts";

const roundCount = 7;

/** Milliseconds from the order of a wall around a repository to the answer of its first tool call: median. */
export async function measureWalls(
  program: ToolHostProgram,
  root: string,
  network: NetworkPolicy,
): Promise<number> {
  const folder = join(root, "shop");
  for (const path of [folder, join(root, "home"), join(root, "data")]) await mkdir(path, { recursive: true });
  await promisify(execFile)("git", ["init", "--quiet", folder]);
  const self = ownAccount();
  await using walls = await StartedWalls.open({
    dataDir: join(root, "data"),
    program,
    catalogue: ["grep"],
    environment: { ...process.env, HOME: join(root, "home") },
    self,
    logger: silentLogger,
    limits: { memoryMb: null, cpus: null, pids: 8_192 },
    homes: { maxMb: 4_096, maxUnusedDays: 30 },
    kind: "bubblewrap",
    containers: new WallContainers({
      socketPath: "/none",
      image: null,
      installationId: "bench",
      logger: silentLogger,
    }),
    maxRunning: roundCount + 1,
    takeHold: () => null,
    openControlGroups: () => openControlGroups({ uid: self.uid, environment: process.env }),
    isOwnListener: () => false,
    boundSecrets: createBoundSecretRegistry(),
    onEgress: () => {},
  });
  const starts: number[] = [];
  for (let round = 0; round <= roundCount; round += 1) {
    const startedAt = performance.now();
    const wall = await walls.open({
      rootId: `wall-${round}`,
      ownerId: "local",
      folder,
      kind: "bubblewrap",
      network,
      limitedBy: [],
      granted: [],
      hide: [],
      unlocked: [],
      extraFolders: [],
    });
    const session = await firstCall(await wall.openHost(), {
      workspaceDir: folder,
      stateDir: join(wall.stateDir, "bench"),
    });
    // The first round makes what the walls of a server share.
    if (round > 0) starts.push(performance.now() - startedAt);
    await session[Symbol.asyncDispose]();
    await walls.remove(`wall-${round}`);
  }
  return percentile(starts, 0.5);
}
