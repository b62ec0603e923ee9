import { dirname } from "node:path";
import { egressEnvironment } from "../egress/egress-environment.ts";
import type { BubblewrapOrder } from "../sandboxes/bubblewrap-command.ts";
import { forwarderBind } from "../sandboxes/port-forwarder-client.ts";
import {
  orderedEnvironment,
  programBinds,
  serveCommand,
  systemPath,
  type ServeOrder,
} from "../sandboxes/tool-host-program.ts";
import type { DerivedSettings } from "./derived-settings.ts";
import { findHiddenFiles } from "./hidden-files.ts";
import type { Java } from "./java.ts";
import { findToolchains, toolchainVariables, visiblePath } from "./toolchains.ts";
import type { WallAccount } from "./wall-account.ts";
import { insideEgress } from "../egress/inside-egress.ts";
import type { WallTrust } from "./wall-egress.ts";
import {
  accountFiles,
  hostName,
  insideWall,
  planMounts,
  wallArguments,
  wallEnvironment,
  type MountPlan,
} from "./wall-mounts.ts";
import type { StartedWallsDeps } from "./walls-deps.ts";
import type { WallOrder } from "./wall.ts";

/** Memory of one process unless it was set. Programs reserve much more than they use. */
const processMemoryMb = 64 * 1_024;

export type WallParts = Pick<StartedWallsDeps, "dataDir" | "environment" | "limits" | "program"> & {
  readonly order: WallOrder;
  /** The working folder without links. */
  readonly folder: string;
  readonly extraFolders: MountPlan["extraFolders"];
  readonly account: WallAccount;
  readonly guards: MountPlan["guards"];
  readonly dirs: MountPlan["dirs"];
  readonly settings: DerivedSettings;
  readonly java: Pick<Java, "settingsFolders">;
  /** Null without a way out. */
  readonly trust: WallTrust | null;
};

/** What walls of both kinds show and start. `readOnlyFolders`: of programs and their settings, shown at their own paths. */
export async function orderInside(
  parts: WallParts,
  readOnlyFolders: readonly string[],
  { endsWithInput = false }: Pick<ServeOrder, "endsWithInput"> = {},
) {
  const { account, dataDir, dirs, extraFolders, folder, guards, order, program, settings, trust } = parts;
  const forwarder = forwarderBind(undefined, "/run/convoke-program");
  const own = programBinds(program, insideWall.program).map((bind) => ({ ...bind, isWritable: false }));
  return {
    mounts: planMounts({
      folder,
      namedFolder: order.folder,
      extraFolders,
      home: account.home,
      dataDir,
      dirs,
      program: [forwarder, ...own],
      toolchains: readOnlyFolders,
      guards,
      copies: order.copies,
    }),
    variables: {
      ...settings.variables,
      ...(trust === null ? {} : egressEnvironment({ ...insideEgress, ...trust })),
    },
    files: { ...settings.files, ...trust?.files, ...(await findHiddenFiles(folder, order.hide)) },
    command: serveCommand(program, insideWall.program, forwarder.target, {
      socket: `${insideWall.run}/host.sock`,
      keyFile: `${insideWall.run}/key`,
      stateDir: dirs.state,
      egress: dirs.egress === null ? undefined : insideEgress.socket,
      endsWithInput,
    }),
  };
}

/** What to start for a wall whose folders exist. */
export async function orderWall(parts: WallParts): Promise<BubblewrapOrder> {
  const { account, dataDir, environment, folder, limits } = parts;
  const home = environment["HOME"] ?? account.home;
  const toolchains = await findToolchains({ home, dataDir, environment });
  const inside = await orderInside(parts, [...toolchains, ...parts.java.settingsFolders]);
  const { command, mounts } = inside;
  const path = visiblePath(environment["PATH"] ?? systemPath, toolchains, dirname(insideWall.program.node));
  const variables = orderedEnvironment({
    ...toolchainVariables(environment, toolchains),
    ...inside.variables,
  });
  const view = {
    account,
    name: hostName,
    folder,
    environment: { ...variables, ...wallEnvironment(account, path, environment) },
  };
  return {
    account: account.become,
    binds: mounts.filter((mount) => mount.kind === "bind"),
    toArguments: (binds) => wallArguments(view, mounts, binds),
    files: { ...accountFiles(account, hostName), ...inside.files },
    visible: [],
    limits: { pids: limits.pids, memoryMb: limits.memoryMb ?? processMemoryMb },
    command,
  };
}
