import { readFileSync } from "node:fs";

/**
 * Attempts to escape that get out when nothing is around them, and change nothing on the machine: were one of them written wrongly, it would
 * fail inside for another reason than the wall. The others would mount, write settings of the kernel or files of the system, or need
 * something that a machine may not have.
 */
const ofEveryUser: readonly string[] = [
  "read the host's /etc/passwd",
  "read the server's secret by its path",
  "list the data folder",
  "read another sandbox's workspace",
  "climb out of the workspace",
  "follow a link to the secret",
  "hard-link the secret",
  "the root of every process",
  "see a process of the host",
  "environment of a process of the host",
  "kill a process of the host",
  "pidfd of a process of the host",
  "read memory of a process of the host",
  "trace a process of the host",
  "write where everybody may",
  "loopback service of the host",
  "service of the host by any address",
  "a name by UDP",
  "unix socket of the host",
  "abstract unix socket of the host",
  "new privileges",
  "mask of paths by /proc/self/fd",
];

/** The same, for root with all capabilities and without a filter of system calls. */
const ofRoot: readonly string[] = [
  "read /etc/shadow",
  "new mount namespace",
  "new user namespace",
  "new user namespace with clone",
  "clone3",
  "enter the namespaces of process 1",
  "chroot",
  "pivot_root",
  "new mount interface (fsopen)",
  "open_tree",
  "bpf",
  "kernel log",
  "kernel module",
  "open_by_handle_at",
  "set the clock",
  "raw socket",
  "packet socket",
  "open any kernel file below /proc for writing",
  "set-user-id program",
  "set-user-id copy",
  "become root",
  "any capability",
  "raise a limit",
];

/** Names of the attempts that have to get out when they run here without a wall. */
export function attemptsOutside(): readonly string[] {
  return isUnlimited() ? [...ofEveryUser, ...ofRoot] : ofEveryUser;
}

function isUnlimited(): boolean {
  const status = readFileSync("/proc/self/status", "utf8");
  const capabilities = BigInt(`0x${/^CapEff:\s*(\w+)$/m.exec(status)?.[1] ?? "0"}`);
  const hasAll = [...Array(38).keys()].every((bit) => (capabilities >> BigInt(bit)) % 2n === 1n);
  return process.getuid?.() === 0 && hasAll && /^Seccomp:\s*0$/m.test(status);
}
