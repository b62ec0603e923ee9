import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { bubblewrapCommand, type BubblewrapOrder } from "../sandboxes/bubblewrap-command.ts";
import type { ControlGroup } from "../sandboxes/control-groups/control-groups.ts";
import { readTail } from "../sandboxes/sandbox-directory.ts";
import type { LaunchedWall } from "./launched-wall.ts";

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
  const child = spawn(file, args, {
    cwd: "/",
    env: { ...group.environment, PATH: path },
    // In a group of its own, so that a Ctrl-C at the server's terminal reaches only the server.
    detached: true,
    stdio: [
      "ignore",
      log.fd,
      log.fd,
      ...descriptors.map((one) => (typeof one === "number" ? one : ("pipe" as const))),
    ],
  });
  const ended = once(child, "exit").then(() => {});
  // One that cannot be spawned is reported below.
  ended.catch(() => {});
  await once(child, "spawn");
  for (const [index, content] of descriptors.entries())
    if (typeof content !== "number") give(child.stdio[index + 3] as Writable, content);
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

function give(pipe: Writable, content: string | Buffer): void {
  // A program that ends before it has read everything says so itself, in its log.
  pipe.on("error", () => {});
  pipe.end(content);
}
