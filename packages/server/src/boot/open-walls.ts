import type { ControlGroups } from "../sandboxes/control-groups/control-groups.ts";
import { openControlGroups } from "../sandboxes/control-groups/open-control-groups.ts";
import { findBubblewrap, ownAccount, type BackendFinding } from "../sandboxes/find-bubblewrap.ts";
import { installationIdOf } from "../sandboxes/open-sandbox.ts";
import type { ToolHostProgram } from "../sandboxes/tool-host-program.ts";
import { deriveSettings } from "../walls/derived-settings.ts";
import { findWhyNoContainers, WallContainers } from "../walls/wall-containers.ts";
import { LateWalls } from "../walls/late-walls.ts";
import { machineMemoryMb } from "../walls/wall-group.ts";
import type { Walls } from "../walls/wall.ts";
import type { Outside } from "../walls/walls-deps.ts";
import { NoWallError, type NoWall } from "../walls/no-wall.ts";
import { isRestrictedByProfile, whyNoWall } from "../walls/why-no-wall.ts";
import type { SharedWithWalls } from "./open-server.ts";
import { ownListener } from "./own-listener.ts";

export type WallStartDeps = {
  /** How to start a tool host, which only the command knows. */
  readonly program: ToolHostProgram;
  /** The server's environment; only its allow-listed part reaches a wall. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A trial that was begun while the server was loading. */
  readonly bubblewrap?: Promise<BackendFinding> | undefined;
  /** How walls reach hosts; as this machine does unless given. */
  readonly outside?: Outside | undefined;
};

/** Opens the walls of a server; null when they are switched off. Rejects with {@link NoWallError} where none works. */
export async function openWalls({
  config,
  logger,
  catalogue,
  ownPort,
  boundSecrets,
  onEgress,
  takeWallHold,
  program,
  environment,
  bubblewrap,
  outside,
}: SharedWithWalls & WallStartDeps): Promise<Walls | null> {
  if (config.wall.kind === "off") return null;
  const self = ownAccount();
  const { dataDir } = config;
  const { engineSocket: socketPath, image } = config.sandbox;
  const kind = config.wall.kind === "docker" ? "docker" : "bubblewrap";
  const containers = new WallContainers({
    socketPath,
    image,
    installationId: installationIdOf(dataDir),
    logger,
  });
  const why =
    kind === "docker"
      ? await containers.whyNot()
      : await findWhyNoWall({ environment, user: config.sandbox.user, bubblewrap });
  if (why !== null) throw new NoWallError(why);
  return new LateWalls({
    dataDir,
    kind,
    containers,
    program,
    catalogue,
    environment,
    self,
    logger,
    limits: config.wall.limits,
    homes: config.wall.homes,
    takeHold: takeWallHold,
    maxRunning: config.wall.maxRunning ?? defaultMaxWalls(),
    openControlGroups: () => openControlGroups({ uid: self.uid, environment }),
    isOwnListener: ownListener(ownPort),
    boundSecrets,
    onEgress: (conversation, record) => onEgress({ conversation }, record),
    outside,
  });
}

/** How processes of walls are limited on this machine. */
export async function findWallLimits(
  environment: WallStartDeps["environment"],
): Promise<Pick<ControlGroups, "kind" | "detail">> {
  return await openControlGroups({ uid: ownAccount().uid, environment, isUntried: true });
}

export { findWhyNoContainers };

/** Names of a person's settings that do not show behind walls, because they contain credentials or start programs. */
export async function listHiddenSettings(
  environment: WallStartDeps["environment"],
): Promise<readonly string[]> {
  return (await deriveSettings(environment["HOME"] ?? "/", "/", environment)).leftOut;
}

/** Many more would use up the memory even when each does little. */
function defaultMaxWalls(): number {
  return Math.max(4, Math.floor(machineMemoryMb() / 256));
}

/** Why no wall works on this machine; null when one does. */
export async function findWhyNoWall({
  environment,
  user,
  bubblewrap,
}: Pick<WallStartDeps, "environment" | "bubblewrap"> & {
  /** Whom root would become for somebody else's folder. */
  readonly user: { readonly uid: number; readonly gid: number };
}): Promise<NoWall | null> {
  const finding = await (bubblewrap ??
    findBubblewrap({ self: ownAccount(), unprivileged: user, environment }));
  return whyNoWall(finding, {
    platform: process.platform,
    isRestrictedByProfile: await isRestrictedByProfile(),
  });
}
