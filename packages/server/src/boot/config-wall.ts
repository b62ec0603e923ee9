import { ConfigError } from "../lib/config-error.ts";
import type { NetworkPolicy } from "@convoke/protocol";
import type { HomeLimits } from "../walls/private-homes.ts";
import type { WallLimits } from "../walls/walls-deps.ts";
import { readAmount } from "./read-amount.ts";
import { readNetwork } from "./read-network.ts";

const kinds = ["auto", "bubblewrap", "off"] as const;

/** The walls of conversations on the server's machine. */
export type WallConfig = {
  /** `auto`: the wall that works here. There is no start without one unless it is `off`. */
  readonly kind: (typeof kinds)[number];
  /** What a wall lets out unless the conversation says otherwise. */
  readonly network: NetworkPolicy;
  /** What all processes of one wall may use together, or each where they cannot be limited together. */
  readonly limits: WallLimits;
  readonly homes: HomeLimits;
  /** How many walls run at one time; null: one for each 256 MB of the machine's memory. */
  readonly maxRunning: number | null;
};

export type WallOverrides = { readonly wall?: string | undefined; readonly network?: string | undefined };

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `CONVOKE_WALL` and `CONVOKE_NETWORK`; flags win over them. */
export function readWallConfig(environment: Environment, overrides: WallOverrides): WallConfig {
  const kind = overrides.wall ?? (environment["CONVOKE_WALL"] || "auto");
  const network = overrides.network ?? (environment["CONVOKE_NETWORK"] || "registries");
  const known = kinds.find((one) => one === kind);
  if (known === undefined)
    throw new ConfigError(`The wall (CONVOKE_WALL) must be one of ${kinds.join(", ")}, not "${kind}".`);
  return {
    kind: known,
    network: readNetwork(network, "CONVOKE_NETWORK (--network)"),
    limits: readLimits(environment),
    homes: {
      maxMb: readAmount(environment, "CONVOKE_WALL_HOME_MB", 4_096, 64),
      maxUnusedDays: readAmount(environment, "CONVOKE_WALL_HOME_DAYS", 30, 1),
    },
    maxRunning: readAmount(environment, "CONVOKE_MAX_WALLS", 0, 1) || null,
  };
}

function readLimits(environment: Environment): WallLimits {
  return {
    memoryMb: readAmount(environment, "CONVOKE_WALL_MEMORY_MB", 0, 64) || null,
    cpus: readAmount(environment, "CONVOKE_WALL_CPUS", 0, 0.1, false) || null,
    pids: readAmount(environment, "CONVOKE_WALL_PIDS", 8_192, 32),
  };
}
