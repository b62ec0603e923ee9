import { ConfigError } from "../lib/config-error.ts";
import type { WallNetwork } from "../walls/wall.ts";

const kinds = ["auto", "bubblewrap", "off"] as const;
const networks = ["all", "none"] as const satisfies readonly WallNetwork[];

/** The walls of conversations on the server's machine. */
export type WallConfig = {
  /** `auto`: the wall that works here. There is no start without one unless it is `off`. */
  readonly kind: (typeof kinds)[number];
  /** What a wall lets out unless the conversation says otherwise. */
  readonly network: WallNetwork;
};

export type WallOverrides = { readonly wall?: string | undefined; readonly network?: string | undefined };

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `CONVOKE_WALL` and `CONVOKE_NETWORK`; flags win over them. */
export function readWallConfig(environment: Environment, overrides: WallOverrides): WallConfig {
  const kind = overrides.wall ?? (environment["CONVOKE_WALL"] || "auto");
  const network = overrides.network ?? (environment["CONVOKE_NETWORK"] || "all");
  return {
    kind: oneOf(kind, kinds, "The wall (CONVOKE_WALL)"),
    network: oneOf(network, networks, "The network (CONVOKE_NETWORK)"),
  };
}

function oneOf<Choice extends string>(text: string, choices: readonly Choice[], what: string): Choice {
  const found = choices.find((choice) => choice === text);
  if (found === undefined)
    throw new ConfigError(`${what} must be one of ${choices.join(", ")}, not "${text}".`);
  return found;
}
