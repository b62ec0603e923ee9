import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bubblewrapCommand, type BubblewrapOrder } from "../sandboxes/bubblewrap-command.ts";
import type { ControlGroup } from "../sandboxes/control-groups/control-groups.ts";
import { readTail } from "../sandboxes/sandbox-directory.ts";
import type { LaunchedWall } from "./launched-wall.ts";
import { spawnWith } from "../sandboxes/launch.ts";

export type BubblewrapLaunch = {
  /** Folder for its log and status, which shows nothing inside. */
  readonly root: string;
  readonly order: BubblewrapOrder;
  /** The group that its processes are in. */
  readonly group: ControlGroup;
  /** The environment of bubblewrap itself. */
  readonly path: string;
};

/** Starts a wall as a process of this one, which ends with it. */
export async function launchBubblewrap({
  root,
  order,
  group,
  path,
}: BubblewrapLaunch): Promise<LaunchedWall> {
  await using scope = new AsyncDisposableStack();
  const logFile = join(root, "log");
  const statusFile = join(root, "status.json");
  const status = scope.use(await open(statusFile, "w", 0o600));
  const log = scope.use(await open(logFile, "w", 0o600));
  const { descriptors, ...command } = bubblewrapCommand(order, status.fd);
  const { file, args } = group.wrap(command);
  const env = { ...group.environment, PATH: path };
  const child = await spawnWith(file, args, { cwd: "/", env, log: log.fd, descriptors });
  const ended = once(child, "exit").then(() => {});
  return {
    ended,
    kill: () => void child.kill("SIGKILL"),
    firstProcess: async () => {
      const [, id] = /"child-pid":\s*(\d+)/.exec(await readFile(statusFile, "utf8")) ?? [];
      if (id === undefined) throw new Error("bubblewrap did not name its first process.");
      return Number(id);
    },
    readLog: (maxBytes) => readTail(logFile, maxBytes),
  };
}
