import { spawnSync } from "node:child_process";
import { nodePlatforms } from "./node-platforms.ts";

/** Programs of the system that a release runs after many minutes, with Debian's packages that have them. */
const tools = [
  ...nodePlatforms.map(({ strip }) => strip),
  { command: "dpkg-deb", debian: "dpkg" },
  { command: "xz", debian: "xz-utils" },
];

/** One sentence for each that is not installed. */
export function missingTools(isInstalled = isOnPath): readonly string[] {
  return tools
    .filter(({ command }) => !isInstalled(command))
    .map(({ command, debian }) => `${command} is missing: apt-get install ${debian}`);
}

function isOnPath(command: string): boolean {
  return spawnSync(command, ["--version"]).error === undefined;
}
