import { Type, type Static } from "typebox";
import { NetworkPolicy } from "../extensions/network-policy.ts";
import { choice, closedObject, object } from "../schema.ts";

/** The wall around the tools of a conversation on the server's machine, where it differs from the server's own setting. */
export const WallRequest = closedObject("WallRequest", {
  kind: Type.Optional(
    choice(["bubblewrap", "off"], {
      description: "With off the tools run as the server's user, for users of the machine only.",
    }),
  ),
  network: Type.Optional(NetworkPolicy),
  hide: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 50,
      description: "Globs of files below the working folder that show empty inside, e.g. `.env`.",
    }),
  ),
});
export type WallRequest = Static<typeof WallRequest>;

/** The wall that a conversation has. */
export const WallInfo = object("WallInfo", {
  kind: choice(["bubblewrap", "none"]),
  network: NetworkPolicy,
  /** The tools run as root without capabilities, because the working folder is root's. */
  as_root: Type.Boolean(),
  limits: Type.Optional(
    choice(["group", "per-process"], {
      description:
        "With group the limits of memory, processors and processes hold for everything behind the wall together, with per-process for each process by itself.",
    }),
  ),
  hide: Type.Optional(Type.Array(Type.String())),
  granted: Type.Optional(
    Type.Array(Type.String(), {
      description: "Hosts that the agent asked for and got, beside those of the network policy.",
    }),
  ),
});
export type WallInfo = Static<typeof WallInfo>;
