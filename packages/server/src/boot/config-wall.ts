import { ConfigError } from "../lib/config-error.ts";
import type { NetworkPolicy } from "@convoke/protocol";
import type { HomeLimits } from "../walls/private-homes.ts";
import type { WallLimits } from "../walls/walls-deps.ts";
import { readNetwork } from "./read-network.ts";
import { read, type Environment } from "./setting.ts";
import { settings } from "./settings.ts";

const kinds = ["auto", "bubblewrap", "docker", "off"] as const;

/** The walls of conversations on the server's machine. */
export type WallConfig = {
  /** `auto`: bubblewrap. There is no start without one unless it is `off`. */
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

/** Reads `CONVOKE_WALL` and `CONVOKE_NETWORK`; flags win over them. */
export function readWallConfig(environment: Environment, overrides: WallOverrides): WallConfig {
  const kind = overrides.wall ?? read(environment, settings.wall);
  const network = overrides.network ?? read(environment, settings.network);
  const known = kinds.find((one) => one === kind);
  if (known === undefined)
    throw new ConfigError(`The wall (CONVOKE_WALL) must be one of ${kinds.join(", ")}, not "${kind}".`);
  return {
    kind: known,
    network: readNetwork(network, "CONVOKE_NETWORK (--network)"),
    limits: readLimits(environment),
    homes: {
      maxMb: read(environment, settings.wall_home_mb),
      maxUnusedDays: read(environment, settings.wall_home_days),
    },
    maxRunning: read(environment, settings.max_walls),
  };
}

function readLimits(environment: Environment): WallLimits {
  return {
    memoryMb: read(environment, settings.wall_memory_mb),
    cpus: read(environment, settings.wall_cpus),
    pids: read(environment, settings.wall_pids),
  };
}
