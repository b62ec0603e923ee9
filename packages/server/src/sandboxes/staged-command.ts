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
      // With a socket for its input it would take itself for the shell of a remote user, and run what root has in `.bashrc`.
      "--norc",
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

/**
 * Every source is opened before `/tmp` is covered, so it may lie there too. One process makes all directories and one mounts
 * everything: a process for each costs more than bubblewrap itself.
 */
const script = `
set -e
uid=$1 gid=$2 count=$3; shift 3
descriptors=() directories=() table=
for ((index = 0; index < count; index++)); do
  exec {descriptor}<"$1"; shift
  descriptors+=("$descriptor")
  table+="/proc/self/fd/$descriptor /tmp/$index none bind 0 0"$'\\n'
done
mount -t tmpfs -o mode=755,size=1m convoke /tmp
for ((index = 0; index < count; index++)); do
  if [ -d "/proc/self/fd/\${descriptors[index]}" ]; then directories+=("/tmp/$index"); else : >"/tmp/$index"; fi
done
mkdir -p /tmp "\${directories[@]}"
printf %s "$table" >/tmp/table
mount --no-canonicalize --all --fstab /tmp/table
rm /tmp/table
for descriptor in "\${descriptors[@]}"; do exec {descriptor}<&-; done
exec setpriv --reuid "$uid" --regid "$gid" --clear-groups --inh-caps=-all --bounding-set=-all -- "$@"
`;
