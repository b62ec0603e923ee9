import { spawnSync } from "node:child_process";

let known: Readonly<Record<string, string>> | undefined;

/**
 * Variables for servers that tests start: where bubblewrap does not work they have no walls. The tests of walls themselves are skipped
 * there by name.
 */
export function wallSettings(): Readonly<Record<string, string>> {
  known ??= works() ? {} : { CONVOKE_WALL: "off" };
  return known;
}

function works(): boolean {
  const args =
    "--unshare-user --unshare-pid --unshare-net --ro-bind / / --proc /proc --dev /dev -- /bin/true";
  return spawnSync("bwrap", args.split(" "), { timeout: 5_000, stdio: "ignore" }).status === 0;
}
