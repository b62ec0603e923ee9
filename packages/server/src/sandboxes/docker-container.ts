import { allowedEnvironment } from "@convoke/tool-host";
import { insideEgress, type InsideTrust } from "../egress/inside-egress.ts";
import { inside, sandboxEnvironment, type Bind } from "./bubblewrap-arguments.ts";
import { confinement, type EngineKind } from "./container-confinement.ts";
import { forwarderBind } from "./port-forwarder-client.ts";
import type { Account } from "./sandbox-directory.ts";
import type { SandboxSpec } from "./sandbox.ts";
import { serveArguments } from "./tool-host-program.ts";

export const labels = { installation: "convoke.installation", sandbox: "convoke.sandbox" } as const;

export type ContainerOrder = {
  readonly spec: SandboxSpec;
  readonly installationId: string;
  readonly image: string;
  readonly account: Account;
  readonly binds: readonly Bind[];
  /** Null without a way out. */
  readonly trust: InsideTrust | null;
  readonly engine: EngineKind;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** What `POST /containers/create` takes: no capability, no new privilege, a read-only root, and the limits. */
export function containerBody(order: ContainerOrder): object {
  const { spec, account, binds, engine } = order;
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
      egress: order.trust === null ? undefined : insideEgress.socket,
    }),
    Env: Object.entries(environmentOf(order)).map(([name, value]) => `${name}=${value}`),
    Labels: { [labels.installation]: order.installationId, [labels.sandbox]: spec.id },
    HostConfig: {
      Binds: binds.map(({ source, target, isWritable }) => `${source}:${target}:${isWritable ? "rw" : "ro"}`),
      ...confinement(engine),
      Runtime: spec.runtime,
      Memory: memoryMb * 1024 * 1024,
      MemorySwap: memoryMb * 1024 * 1024,
      NanoCpus: Math.round(cpus * 1e9),
      PidsLimit: pids,
      ShmSize: diskMb * 1024 * 1024,
      Tmpfs: { "/tmp": temporary, "/var/tmp": temporary },
      LogConfig: { Type: engine.isPodman ? "k8s-file" : "json-file", Config: { "max-size": "1m" } },
    },
  };

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
