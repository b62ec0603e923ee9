import { access, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { confinement, findEngineKind } from "../sandboxes/container-confinement.ts";
import type { ContainerEngine } from "../sandboxes/container-engine.ts";
import type { GroupLimits } from "../sandboxes/control-groups/control-groups.ts";
import type { LaunchedWall } from "./launched-wall.ts";
import type { ContainerOrder } from "./order-container.ts";

export type ContainerLaunch = {
  readonly order: ContainerOrder;
  readonly engine: ContainerEngine;
  readonly image: string;
  /** Of the container; of no other one of this engine. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Folder for the files that are made for it, which shows nothing else inside. */
  readonly root: string;
  readonly limits: GroupLimits;
  /** Called when a container that has ended could not be removed. Must not throw. */
  readonly onLeft: (error: unknown) => void;
};

/**
 * Starts a wall as a container. It ends with this process: its tool host ends with its standard input, which the engine closes with our
 * connection.
 */
export async function launchContainer(launch: ContainerLaunch): Promise<LaunchedWall> {
  const { engine, name, onLeft } = launch;
  const remove = async (): Promise<void> => {
    // 404: it removed itself; 409: somebody is removing it.
    await engine.call("DELETE", `/containers/${name}?force=1&v=1`, { accepted: [404, 409] });
  };
  const body = await describe(launch);
  await engine.call("POST", `/containers/create?name=${name}`, { body });
  try {
    const attached = await engine.attach(name);
    try {
      await engine.call("POST", `/containers/${name}/start`);
    } catch (error) {
      attached.close();
      throw error;
    }
    // The connection may have ended before the container.
    const ended = attached.closed.then(remove).catch(onLeft);
    return {
      ended,
      kill: () => void remove().then(() => attached.close(), onLeft),
      firstProcess: async () => {
        const { body: found } = await engine.call("GET", `/containers/${name}/json`);
        const { State: state } = found as { State?: { Pid?: number } };
        return await visibleProcess(state?.Pid ?? 0);
      },
      readLog: async (maxBytes) => attached.printed.slice(-maxBytes),
    };
  } catch (error) {
    await remove().catch(onLeft);
    throw error;
  }
}

/** An engine may run as somebody else, or in a machine of its own. */
async function visibleProcess(id: number): Promise<number | null> {
  if (id === 0) return null;
  return await access(`/proc/${id}/root/`).then(
    () => id,
    () => null,
  );
}

/** Limits of folders in memory, in bytes. */
const temporary = `rw,nosuid,nodev,size=${4_096 * 1024 * 1024},mode=1777`;
const sharedMemoryBytes = 1_024 * 1024 * 1024;
const empty = "rw,nosuid,nodev,size=65536,mode=0755";

/** What `POST /containers/create` takes: no capability, no new privilege, no network, a read-only root, and the limits. */
async function describe({ order, image, labels, limits, root, engine }: ContainerLaunch): Promise<object> {
  const files = await writeFiles(join(root, "files"), order.files);
  const kind = await findEngineKind(engine, root);
  const [node, ...command] = order.command;
  return {
    Image: image,
    User: order.user,
    Hostname: order.hostName,
    WorkingDir: order.workingDir,
    Entrypoint: [node],
    Cmd: command,
    Env: Object.entries(order.environment).map(([variable, value]) => `${variable}=${value}`),
    Labels: labels,
    OpenStdin: true,
    StdinOnce: true,
    HostConfig: {
      // Unlike `Binds`, these make no folder where a source is missing.
      Mounts: [...order.binds, ...files].map(({ source, target, isWritable }) => ({
        Type: "bind",
        Source: source,
        Target: target,
        ReadOnly: !isWritable,
      })),
      AutoRemove: true,
      ...confinement(kind),
      Memory: limits.memoryMb * 1024 * 1024,
      MemorySwap: limits.memoryMb * 1024 * 1024,
      NanoCpus: limits.cpus === null ? undefined : Math.round(limits.cpus * 1e9),
      PidsLimit: limits.pids,
      ShmSize: sharedMemoryBytes,
      Tmpfs: {
        "/tmp": temporary,
        "/var/tmp": temporary,
        // Engines show a container its own group, and how much the machine has.
        "/sys/fs/cgroup": "ro,nosuid,nodev,noexec,size=4096",
        ...Object.fromEntries(order.empty.map((path) => [path, empty])),
      },
      LogConfig: { Type: "none" },
    },
  };
}

/** An engine mounts what lies on the disk. */
async function writeFiles(folder: string, files: ContainerOrder["files"]) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o755 });
  return await Promise.all(
    Object.entries(files).map(async ([target, content], index) => {
      const source = join(folder, String(index));
      await writeFile(source, content, { mode: 0o644 });
      return { source, target, isWritable: false };
    }),
  );
}
