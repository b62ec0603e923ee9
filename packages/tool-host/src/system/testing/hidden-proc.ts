import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Linux's own `ps` and `lsof` read `/proc`; from inside they are run outside, by a second mount of it. */
const programs = ["/usr/bin/ps", "/usr/bin/lsof"];

/**
 * The command and arguments that run a program in a world whose `/proc` is empty, as on a system without one, while `ps` and `lsof` work.
 * `folder` is an empty one of the test.
 */
export function withoutProc(folder: string, command: readonly string[]): readonly [string, ...string[]] {
  const proc = join(folder, "proc");
  const standIn = join(folder, "stand-in");
  mkdirSync(proc);
  writeFileSync(
    standIn,
    `#!/bin/sh\nexec nsenter --mount=${proc}/${process.pid}/ns/mnt -- "/usr/bin/\${0##*/}" "$@"\n`,
  );
  chmodSync(standIn, 0o755);
  const steps = [
    `mount --rbind /proc ${proc}`,
    ...programs.map((program) => `{ [ ! -e ${program} ] || mount --bind ${standIn} ${program}; }`),
    "mount -t tmpfs none /proc",
    'exec "$@"',
  ];
  return ["unshare", "--mount", "sh", "-c", steps.join(" && "), "sh", ...command];
}

/** Whether this machine lets the test make such a world. */
export function canHideProc(): boolean {
  const probe = "mount -t tmpfs none /proc && ! [ -e /proc/self ]";
  return (
    spawnSync("unshare", ["--mount", "sh", "-c", probe]).status === 0 &&
    spawnSync("nsenter", ["--version"]).status === 0
  );
}
