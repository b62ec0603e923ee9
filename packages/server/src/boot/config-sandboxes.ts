import { resolve } from "node:path";
import type { NetworkPolicy } from "@convoke/protocol";
import { ConfigError } from "../lib/config-error.ts";
import { readAmount } from "./read-amount.ts";
import { readNetwork } from "./read-network.ts";

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

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `CONVOKE_SANDBOX` and `CONVOKE_SANDBOX_*`; flags win over the environment. `network` is what walls let out. */
export function readSandboxConfig(
  environment: Environment,
  network: NetworkPolicy,
  overrides: SandboxOverrides = {},
): SandboxConfig {
  const image = environment["CONVOKE_SANDBOX_IMAGE"] || null;
  const specsFile = overrides.sandboxSpecs || environment["CONVOKE_SANDBOX_SPECS"] || null;
  const use = overrides.sandbox ?? environment["CONVOKE_SANDBOX"] ?? "auto";
  return {
    use: readUse(use, image !== null || specsFile !== null),
    specsFile: specsFile === null ? null : resolve(specsFile),
    network: readOwnNetwork(environment["CONVOKE_SANDBOX_NETWORK"]) ?? network,
    image,
    engineSocket: environment["CONVOKE_SANDBOX_ENGINE_SOCKET"] || "/var/run/docker.sock",
    user: readUser(environment["CONVOKE_SANDBOX_USER"] || "65534:65534"),
    memoryMb: readAmount(environment, "CONVOKE_SANDBOX_MEMORY_MB", 2_048, 64),
    cpus: readAmount(environment, "CONVOKE_SANDBOX_CPUS", 2, 0.1, false),
    pids: readAmount(environment, "CONVOKE_SANDBOX_PIDS", 512, 32),
    diskMb: readAmount(environment, "CONVOKE_SANDBOX_DISK_MB", 1_024, 1),
    warm: readAmount(environment, "CONVOKE_SANDBOX_WARM", 0, 0),
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
function readOwnNetwork(text: string | undefined): NetworkPolicy | null {
  if (text === undefined || text === "") return null;
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
