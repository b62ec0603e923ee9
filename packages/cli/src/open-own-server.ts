import { NoWallError } from "@convoke/server/no-wall";
import type { ConfigOverrides } from "@convoke/server";
import { storeOverrides, type StoreOptions } from "./commands/store-options.ts";
import { openNode, type Node } from "./open-node.ts";
import { explainNoWall, mayRunWithoutWall } from "./without-wall.ts";

export type OwnServerOptions = StoreOptions & {
  /** The wall of conversations, as `CONVOKE_WALL`. */
  readonly wall?: string | undefined;
  /** As `CONVOKE_NETWORK`. */
  readonly network?: string | undefined;
  readonly logLevel: Parameters<typeof openNode>[1];
  /** `ask` at the terminal where no wall works; `none`: no agent runs, so none is needed; `refuse`: nobody can be asked. */
  readonly withoutWall: "ask" | "none" | "refuse";
  /** Called before the terminal is asked. */
  readonly beforeQuestion?: () => void;
  /** Questions go to stderr, because stdout is JSON. */
  readonly isJson: boolean;
};

/** A server on a free port of loopback, for the time of one command. It continues no run of others. */
export async function openOwnServer(options: OwnServerOptions): Promise<Node> {
  const { network, logLevel, withoutWall, isJson } = options;
  const open = (wall: ConfigOverrides["wall"]): Promise<Node> => {
    const overrides = { ...storeOverrides(options), port: 0, host: "127.0.0.1", network, wall };
    return openNode(overrides, logLevel, { hasSandboxes: false, isAttended: true });
  };
  try {
    return await open(options.wall);
  } catch (error) {
    if (error instanceof NoWallError) options.beforeQuestion?.();
    const isAllowed =
      error instanceof NoWallError && (withoutWall === "none" || (await mayRunWithoutWall(error, isJson)));
    if (isAllowed) return await open("off");
    throw explainNoWall(error, "--sandbox off");
  }
}
