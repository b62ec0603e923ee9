import { allowedEnvironment } from "@convoke/tool-host";
import { insideEgress, type InsideTrust } from "../egress/inside-egress.ts";
import { inside, sandboxEnvironment, type Bind } from "./bubblewrap-arguments.ts";
import { containerFilter } from "./container-seccomp.ts";
import { forwarderBind } from "./port-forwarder-client.ts";
import { readOnlyPaths } from "./read-only-paths.ts";
import type { Account } from "./sandbox-directory.ts";
import type { SandboxSpec } from "./sandbox.ts";
import { serveArguments } from "./tool-host-program.ts";

export const labels = { installation: "convoke.installation", sandbox: "convoke.sandbox" } as const;

const podmanLimits = [
  { Name: "nofile", Soft: 16_384, Hard: 16_384 },
  // Counts what the user has on the whole machine; the container's own limit is that of its group.
  { Name: "nproc", Soft: 32_768, Hard: 32_768 },
];

/** Docker's own, which a list replaces, and files in which anybody may ask the kernel to watch its load. */
const readonlyPaths = "bus fs irq sys sysrq-trigger pressure".split(" ").map((name) => `/proc/${name}`);

export type ContainerOrder = {
  readonly spec: SandboxSpec;
  readonly installationId: string;
  readonly image: string;
  readonly account: Account;
  readonly binds: readonly Bind[];
  /** Null without a way out. */
  readonly trust: InsideTrust | null;
  readonly isPodman: boolean;
  /** Has the filter of system calls, for podman. */
  readonly filterFile: string;
  /** The engine runs as an ordinary user, who becomes the account of the files in the container. */
  readonly isRootless: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** What `POST /containers/create` takes: no capability, no new privilege, a read-only root, and the limits. */
export function containerBody(order: ContainerOrder): object {
  const { spec, account, binds, isPodman } = order;
  const { memoryMb, cpus, pids, diskMb = 1_024 } = spec.limits;
  const temporary = `rw,nosuid,nodev,size=${diskMb}m,mode=1777`;
  return {
    Image: order.image,
    User: `${account.uid}:${account.gid}`,
    Hostname: `sandbox-${spec.id}`.slice(0, 63),
    WorkingDir: inside.workspace,
    Entrypoint: ["convoke"],
    Cmd: serveArguments({
      socket: `${inside.run}/host.sock`,
      keyFile: `${inside.run}/key`,
      stateDir: inside.state,
      ...(order.trust === null ? {} : { egress: insideEgress.socket }),
    }),
    Env: Object.entries(environmentOf(order)).map(([name, value]) => `${name}=${value}`),
    Labels: { [labels.installation]: order.installationId, [labels.sandbox]: spec.id },
    HostConfig: {
      Binds: binds.map(({ source, target, isWritable }) => `${source}:${target}:${isWritable ? "rw" : "ro"}`),
      // The only way out is the socket of the server's proxy.
      NetworkMode: "none",
      UsernsMode: isPodman && order.isRootless ? "keep-id" : undefined,
      Runtime: spec.runtime,
      Memory: memoryMb * 1024 * 1024,
      MemorySwap: memoryMb * 1024 * 1024,
      NanoCpus: Math.round(cpus * 1e9),
      PidsLimit: pids,
      ShmSize: diskMb * 1024 * 1024,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges", ...filterOf(order), ...(isPodman ? ["mask=/proc/pressure"] : [])],
      ReadonlyRootfs: true,
      ReadonlyPaths: readOnlyPaths,
      Tmpfs: { "/tmp": temporary, "/var/tmp": temporary },
      Init: true,
      RestartPolicy: { Name: "no" },
      LogConfig: { Type: isPodman ? "k8s-file" : "json-file", Config: { "max-size": "1m" } },
      // Podman asks for millions unless told, which machines may refuse to their root.
      Ulimits: [{ Name: "core", Soft: 0, Hard: 0 }, ...(isPodman ? podmanLimits : [])],
      ReadonlyPaths: readonlyPaths,
    },
  };

  function filterOf({ isPodman: isPath, filterFile }: ContainerOrder): string[] {
    const filter = containerFilter(process.arch);
    if (filter === null) return [];
    // Podman takes the path of a file on its machine, which is this one.
    return [`seccomp=${isPath ? filterFile : JSON.stringify(filter)}`];
  }

  function environmentOf({ environment }: ContainerOrder): Record<string, string> {
    const { LANG = "C.UTF-8", TZ } = allowedEnvironment(environment);
    return {
      LANG,
      ...(TZ === undefined ? {} : { TZ }),
      ...sandboxEnvironment(spec, order.trust),
      HOME: inside.home,
      USER: "agent",
      // The tool host's own; it passes no such variable on to what it starts.
      NODE_OPTIONS: `--import=file://${forwarderBind().target}`,
    };
  }
}
