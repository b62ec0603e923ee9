import { resolve } from "node:path";
import type { WallInfo } from "@convoke/protocol";
import { describeNetwork } from "@convoke/server/describe-network";

/** What an agent can reach, in one line. */
export function describeWall(wall: WallInfo | undefined, workspace: string): string {
  if (wall === undefined || wall.kind === "none")
    return "Wall: none. The agent's commands run as your user, who can read your keys and other files.";
  const parts = [
    wall.kind,
    describeWrites(wall, workspace),
    describeNetwork(wall.network),
    ...describeReads(wall),
    ...(wall.unlocked === undefined ? [] : [`unlocked: ${wall.unlocked.join(", ")}`]),
    ...(wall.hide === undefined ? [] : [`hidden: ${wall.hide.join(", ")}`]),
    ...(wall.as_root ? ["runs as root without capabilities, because the folder is root's"] : []),
  ];
  return `Wall: ${parts.join(" · ")}`;
}

function describeWrites({ extra_folders: extra = [] }: WallInfo, workspace: string): string {
  const more = extra.filter(({ mode }) => mode === "rw").map(({ path }) => path);
  return `writes to ${[resolve(workspace), ...more].join(", ")} only`;
}

function describeReads({ extra_folders: extra = [] }: WallInfo): string[] {
  const paths = extra.filter(({ mode }) => mode !== "rw").map(({ path }) => path);
  return paths.length === 0 ? [] : [`reads ${paths.join(", ")} too`];
}
