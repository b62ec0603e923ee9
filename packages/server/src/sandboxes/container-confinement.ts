import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ContainerEngine } from "./container-engine.ts";
import { containerFilter } from "./container-seccomp.ts";
import { isRootless } from "./engine-facts.ts";

/** What a container around agents depends on, of its engine. */
export type EngineKind = {
  readonly isPodman: boolean;
  /** It runs as an ordinary user, who becomes the account of the files in the container. */
  readonly isRootless: boolean;
  /** With the filter of system calls, for podman: a file of this machine. */
  readonly filterFile: string;
};

/** Asks the engine, and writes the filter into `folder`. */
export async function findEngineKind(
  engine: Pick<ContainerEngine, "call">,
  folder: string,
): Promise<EngineKind> {
  const [version, info] = await Promise.all([engine.call("GET", "/version"), engine.call("GET", "/info")]);
  const { Components = [] } = version.body as { Components?: { Name: string }[] };
  const filterFile = join(folder, "seccomp.json");
  await writeFile(filterFile, JSON.stringify(containerFilter(process.arch)), { mode: 0o644 });
  return {
    isPodman: Components.some(({ Name }) => Name.startsWith("Podman")),
    isRootless: isRootless(info.body),
    filterFile,
  };
}

/** Part of `HostConfig`: no network, no capability, no new privilege, a read-only root, and a filter of system calls. */
export function confinement(kind: EngineKind) {
  const { isPodman } = kind;
  return {
    // The only way out is the socket of the server's proxy.
    NetworkMode: "none",
    UsernsMode: isPodman && kind.isRootless ? "keep-id" : undefined,
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges", ...filterOf(kind), ...(isPodman ? ["mask=/proc/pressure"] : [])],
    ReadonlyRootfs: true,
    ReadonlyPaths: readOnlyPaths,
    Init: true,
    RestartPolicy: { Name: "no" },
    // Podman asks for millions unless told, which machines may refuse to their root.
    Ulimits: [{ Name: "core", Soft: 0, Hard: 0 }, ...(isPodman ? podmanLimits : [])],
  };
}

function filterOf({ filterFile, isPodman }: EngineKind): string[] {
  const filter = containerFilter(process.arch);
  return filter === null ? [] : [`seccomp=${isPodman ? filterFile : JSON.stringify(filter)}`];
}

/**
 * What engines make read-only in a container unless they are told, and /proc/pressure: there everybody may write, which makes the kernel
 * work.
 */
const readOnlyPaths = "bus fs irq sys sysrq-trigger pressure".split(" ").map((name) => `/proc/${name}`);

const podmanLimits = [
  { Name: "nofile", Soft: 16_384, Hard: 16_384 },
  // Counts what the user has on the whole machine; the container's own limit is that of its group.
  { Name: "nproc", Soft: 32_768, Hard: 32_768 },
];
