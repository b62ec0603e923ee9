import { spawnSync } from "node:child_process";
import type { Packed } from "./pack-release.ts";

/**
 * Arguments of npm that publish each tarball, what others depend on first. Packages with a Node have Node's version and are published
 * once for each: those that the registry has are left out. A version like 1.2.3-beta.1 becomes no one's default.
 */
export function publishCommands(
  packed: readonly Packed[],
  version: string,
  isPublished: (spec: string) => boolean = isInRegistry,
): readonly (readonly string[])[] {
  const rankOf = ({ name }: Packed): number =>
    name === "convoke" ? 3 : name === "@convoke/client" ? 2 : name === "@convoke/protocol" ? 1 : 0;
  const tag = version.includes("-") ? ["--tag", "next"] : [];
  return packed
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .filter((one) => rankOf(one) > 0 || !isPublished(`${one.name}@${one.version}`))
    .map(({ file }) => ["publish", `./dist/release/${file}`, "--provenance", "--access", "public", ...tag]);
}

function isInRegistry(spec: string): boolean {
  const { status, stdout } = spawnSync("npm", ["view", spec, "version", "--silent"], { encoding: "utf8" });
  return status === 0 && stdout.trim() !== "";
}
