import { resolve } from "node:path";
import type { NetworkPolicy } from "@convoke/protocol";
import { ConfigError } from "../lib/config-error.ts";
import { readNetwork } from "./read-network.ts";
import { read, type Environment } from "./setting.ts";
import { settings } from "./settings.ts";

const backendNames = ["bubblewrap", "process", "docker"] as const;
export type SandboxBackendName = (typeof backendNames)[number];

/** Whether and how conversations can have sandboxes. */
export type SandboxConfig = {
  /**
   * `auto`: the best isolation that works here, and docker where it is configured. Otherwise the listed backends, the
   * first by default; an empty list means off.
   */
  readonly use: "auto" | readonly SandboxBackendName[];
  /** What sandboxes that isolate may reach, through the server's proxy. */
  readonly network: NetworkPolicy;
  /** Container image with the command `convoke`; null when none is configured. */
  readonly image: string | null;
  /** Socket of Docker or Podman. */
  readonly engineSocket: string;
  /** The user of sandboxes when the server is root and the workspace has no other owner. */
  readonly user: { readonly uid: number; readonly gid: number };
  readonly memoryMb: number;
  /** Number of processors; may be a fraction. */
  readonly cpus: number;
  /** Processes and threads. */
  readonly pids: number;
  /** Space in each private temporary directory. */
  readonly diskMb: number;
  /** Number of warm sandboxes of the default kind, ready for the next start. */
  readonly warm: number;
  /** Absolute path of the file with the operator's sandbox specs; null: the settings above are the only ones. */
  readonly specsFile: string | null;
};

export type SandboxOverrides = {
  /** As `CONVOKE_SANDBOX`. */
  readonly sandbox?: string | undefined;
  /** As `CONVOKE_SANDBOX_SPECS`. */
  readonly sandboxSpecs?: string | undefined;
};

/** Reads `CONVOKE_SANDBOX` and `CONVOKE_SANDBOX_*`; flags win over the environment. `network` is what walls let out. */
export function readSandboxConfig(
  environment: Environment,
  network: NetworkPolicy,
  overrides: SandboxOverrides = {},
): SandboxConfig {
  const image = read(environment, settings.sandbox_image);
  const specsFile = overrides.sandboxSpecs || read(environment, settings.sandbox_specs);
  const use = overrides.sandbox ?? environment[settings.sandbox.variable] ?? settings.sandbox.fallback;
  return {
    use: readUse(use, image !== null || specsFile !== null),
    specsFile: specsFile === null ? null : resolve(specsFile),
    network: readOwnNetwork(read(environment, settings.sandbox_network)) ?? network,
    image,
    engineSocket: read(environment, settings.sandbox_engine_socket),
    user: readUser(read(environment, settings.sandbox_user)),
    memoryMb: read(environment, settings.sandbox_memory_mb),
    cpus: read(environment, settings.sandbox_cpus),
    pids: read(environment, settings.sandbox_pids),
    diskMb: read(environment, settings.sandbox_disk_mb),
    warm: read(environment, settings.sandbox_warm),
  };
}

function readUse(text: string, hasImages: boolean): SandboxConfig["use"] {
  if (text === "auto") return "auto";
  if (text === "off" || text === "") return [];
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !(backendNames as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new ConfigError(
      `--sandbox (CONVOKE_SANDBOX) must be auto, off, or some of ${backendNames.join(", ")} with commas between, not "${text}".`,
    );
  }
  if (names.includes("docker") && !hasImages) {
    throw new ConfigError("Docker sandboxes need an image: set CONVOKE_SANDBOX_IMAGE.");
  }
  return [...new Set(names as SandboxBackendName[])];
}

/** Null when it is not set. `on` was the word for every public host. */
function readOwnNetwork(text: string | null): NetworkPolicy | null {
  if (text === null) return null;
  return text === "on" ? "all" : readNetwork(text, "CONVOKE_SANDBOX_NETWORK");
}

function readUser(text: string): SandboxConfig["user"] {
  const [, uid, gid = uid] = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(text) ?? [];
  if (uid === undefined || Number(uid) === 0) {
    throw new ConfigError(
      `CONVOKE_SANDBOX_USER must be numbers as in 65534:65534 and not root, not "${text}".`,
    );
  }
  return { uid: Number(uid), gid: Number(gid) };
}
