import type { Account } from "./sandbox-directory.ts";

export type StagedCommand = { readonly file: string; readonly args: readonly string[] };

/**
 * Runs `command` as `account`, with `sources` readable at `/tmp/0`, `/tmp/1`, ... whatever directories they lie in: root
 * shows them in a mount namespace that only the command has, then gives up being root. The process id stays the same.
 */
export function stagedCommand(
  account: Account,
  sources: readonly string[],
  command: readonly string[],
): StagedCommand {
  return {
    file: "unshare",
    args: [
      "--mount",
      "--propagation",
      "private",
      "--",
      "/bin/bash",
      "-c",
      script,
      "convoke-stage",
      String(account.uid),
      String(account.gid),
      String(sources.length),
      ...sources,
      ...command,
    ],
  };
}

/** Where the source with this index is for the command. */
export function stagedPath(index: number): string {
  return `/tmp/${index}`;
}

/** Every source is opened before `/tmp` is covered, so it may lie there too. */
const script = `
set -e
uid=$1 gid=$2 count=$3; shift 3
descriptors=()
for ((index = 0; index < count; index++)); do
  exec {descriptor}<"$1"; shift
  descriptors+=("$descriptor")
done
mount -t tmpfs -o mode=755,size=1m convoke /tmp
for ((index = 0; index < count; index++)); do
  descriptor=\${descriptors[index]}
  if [ -d "/proc/self/fd/$descriptor" ]; then mkdir "/tmp/$index"; else : >"/tmp/$index"; fi
  mount --no-canonicalize --bind "/proc/self/fd/$descriptor" "/tmp/$index"
  exec {descriptor}<&-
done
exec setpriv --reuid "$uid" --regid "$gid" --clear-groups --inh-caps=-all --bounding-set=-all -- "$@"
`;
