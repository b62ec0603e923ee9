import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { EscapeTargets } from "./escape-targets.ts";

const run = promisify(execFile);
const namespaces = "--mount --pid --uts --ipc --net --fork --propagation private";

/**
 * Null where root can make a copy of the machine: every mount, process, name and network of its own, and every file a copy that is
 * written to memory. Otherwise what is missing.
 */
export async function whyNoCopy(): Promise<string | null> {
  if (process.getuid?.() !== 0) return "the tests are not root";
  const place = await mkdtemp(join(tmpdir(), "convoke-copy-"));
  try {
    const trial = `script -qec true /dev/null && ip link set lo up && ${copyRoot(place)}`;
    await run("unshare", [...namespaces.split(" "), "bash", "-c", trial], { timeout: 20_000 });
    return null;
  } catch (error) {
    return `no copy can be made: ${String((error as { stderr?: string }).stderr ?? error).trim()}`;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** Runs a command of the working folder in a copy of the machine, with no wall around it, as its root. */
export async function runInCopy(targets: EscapeTargets, folder: string, command: string): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), "convoke-copy-"));
  try {
    await mkdir(join(place, "made"));
    const script = join(folder, "copy.sh");
    await writeFile(script, copyScript(targets, place, folder, command));
    // The terminal is that of process 1, which an attempt types into.
    await run("script", ["-qec", `unshare ${namespaces} bash ${script}`, "/dev/null"], { timeout: 240_000 });
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

function copyRoot(place: string): string {
  const layers = `lowerdir=/,upperdir=${place}/up,workdir=${place}/work`;
  return [
    `mount -t tmpfs tmpfs ${place}`,
    `mkdir ${place}/up ${place}/work ${place}/root`,
    `mount -t overlay overlay -o ${layers} ${place}/root`,
  ].join(" && ");
}

function copyScript(targets: EscapeTargets, place: string, folder: string, command: string): string {
  const root = `${place}/root`;
  const devices =
    "null c 1 3,zero c 1 5,full c 1 7,random c 1 8,urandom c 1 9,tty c 5 0,sda b 8 0,mem c 1 1,kmsg c 1 11,kvm c 10 232,net/tun c 10 200".split(
      ",",
    );
  const services = fileURLToPath(new URL("copy-services.ts", import.meta.url));
  const programs = targets.programFiles.map((path) => `${root}${path}`);
  return [
    "set -e",
    copyRoot(place),
    `mount -t proc proc ${root}/proc`,
    `mount --rbind /sys ${root}/sys`,
    `mount -t tmpfs tmpfs ${root}/dev`,
    `mkdir ${root}/dev/net`,
    ...devices.map((device) => `mknod -m 666 ${root}/dev/${device}`),
    `ln -s /proc/self/fd ${root}/dev/fd`,
    `mount -t tmpfs tmpfs ${root}/run`,
    `mkdir -p ${root}/run/convoke-egress ${root}/run/dbus ${root}/mnt ${programs.map(dirname).join(" ")}`,
    `touch ${root}/run/docker.sock ${root}/run/convoke-egress/proxy.sock`,
    `mount -t tmpfs -o mode=1777 tmpfs ${root}/tmp`,
    ...[folder, targets.dataDir].flatMap((path) => [
      `mkdir -p ${root}${path}`,
      `mount --bind ${path} ${root}${path}`,
    ]),
    `mount --bind ${root}/usr ${root}/usr`,
    "ip link set lo up",
    "ip address add 169.254.169.254/32 dev lo",
    "ip address add 192.0.2.1/32 dev lo",
    `coproc services { ${process.execPath} ${services} ${targets.tcpPort} 2>&1; }`,
    'read -r line <&"${services[0]}"; [ "$line" = ready ]',
    // Not chroot, in which nobody may make a user namespace.
    `cd ${root} && mkdir .old && pivot_root . .old && umount -l .old`,
    // An attempt that gets out finds it busy, and leaves it to the others.
    "exec 9< /proc/version",
    `cd ${folder} && ${command}`,
  ].join("\n");
}
