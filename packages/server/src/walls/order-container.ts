import type { Bind } from "../sandboxes/bubblewrap-arguments.ts";
import { orderedEnvironment, systemPath } from "../sandboxes/tool-host-program.ts";
import { dirname } from "node:path";
import { orderInside, type WallParts } from "./order-wall.ts";
import { accountFiles, hostName, insideWall, wallEnvironment } from "./wall-mounts.ts";

/** A container for a wall whose folders exist. */
export type ContainerOrder = {
  readonly user: string;
  readonly hostName: string;
  readonly workingDir: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Later ones cover earlier ones. */
  readonly binds: readonly Bind[];
  /** Folders in memory, for a few entries. */
  readonly empty: readonly string[];
  /** Content of files by their path inside. */
  readonly files: Readonly<Record<string, string | Buffer>>;
  readonly command: readonly string[];
};

/**
 * The same wall as one of bubblewrap, with the system of an image: paths of the working folder, the private home and the session's state are
 * those outside, and programs are the image's. The tool host's own are shown beside them.
 */
export async function orderContainer(parts: WallParts): Promise<ContainerOrder> {
  const { account, environment, folder } = parts;
  const { command, files, mounts, variables } = await orderInside(parts, [], { endsWithInput: true });
  // A name of the folder that leads through links: the folder shows there as well.
  const binds = mounts.flatMap((mount): Bind[] => {
    if (mount.kind === "empty") return [];
    return [mount.kind === "bind" ? mount : { ...mount, isWritable: true }];
  });
  const path = `${systemPath}:${dirname(insideWall.program.node)}`;
  // The number of the user of the process is also the one that shows.
  const shown = account.isRoot ? { uid: 0, gid: 0 } : account.shown;
  const { "/etc/hosts": _hosts, ...users } = accountFiles({ ...account, shown }, hostName);
  return {
    user: `${shown.uid}:${shown.gid}`,
    hostName,
    workingDir: folder,
    environment: { ...orderedEnvironment(variables), ...wallEnvironment(account, path, environment) },
    binds: lastOfEach(binds),
    empty: mounts.flatMap((mount) => (mount.kind === "empty" ? [mount.target] : [])),
    files: { ...users, ...files },
    command,
  };
}

/** Later binds cover earlier ones of the same place, which an engine refuses. */
function lastOfEach(binds: readonly Bind[]): Bind[] {
  return binds.filter(({ target }, index) => !binds.some((one, at) => at > index && one.target === target));
}
