import { resolve } from "node:path";
import type { WallInfo } from "@convoke/protocol";

/** What an agent can reach, in one line. */
export function describeWall(wall: WallInfo | undefined, workspace: string): string {
  if (wall === undefined || wall.kind === "none")
    return "Wall: none. The agent's commands run as your user, who can read your keys and other files.";
  const parts = [
    wall.kind,
    `writes to ${resolve(workspace)} only`,
    wall.network === "none" ? "no network" : "network: everything your machine reaches",
    ...(wall.hide === undefined ? [] : [`hidden: ${wall.hide.join(", ")}`]),
    ...(wall.as_root ? ["runs as root without capabilities, because the folder is root's"] : []),
  ];
  return `Wall: ${parts.join(" · ")}`;
}
