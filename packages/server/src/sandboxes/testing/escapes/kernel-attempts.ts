import {
  calls,
  does,
  type EscapeAttempt,
  inCopy,
  onMachine,
  opens,
  reads,
  succeeds,
  systemCall,
} from "./escape-attempt.ts";
import type { EscapeTargets } from "./escape-targets.ts";

/**
 * Prints ESCAPED with the path of each file below /proc, apart from those of processes, that opens for writing, and is a file: containers
 * cover some with /dev/null. Changes nothing.
 */
export const writableKernelFiles = `find /proc -path '/proc/[0-9]*' -prune -o -type f -print 2>/dev/null | perl -ne 'chomp; if (open(my $file, ">>", $_)) { print "ESCAPED $_\\n" if -f $file }'`;

const newUser = 0x1000_0000;
const newMounts = 0x2_0000;

/** Numbers 36 to 47: the kernel, by its calls and its files. */
export function kernelAttempts({ hostPid, workspace }: EscapeTargets): readonly EscapeAttempt[] {
  const folder = "/tmp/convoke-mount";
  const mounts = (args: string): string => `mkdir -p ${folder}; ${succeeds(165, args)}`;
  return [
    inCopy(36, "new user namespace", succeeds(272, `${newUser}`)),
    inCopy(36, "new mount namespace", succeeds(272, `${newMounts}`)),
    inCopy(36, "new user namespace with clone", succeeds(56, `${newUser}|17,0,0,0`)),
    inCopy(36, "clone3, which hides its flags", calls(435, "0,0")),
    inCopy(
      36,
      "enter the namespaces of process 1",
      `perl -e 'open(my $n, "<", "/proc/1/ns/mnt") or exit; print "ESCAPED\\n" if syscall(308, fileno($n), 0) == 0'`,
    ),
    inCopy(37, "mount a tmpfs", mounts(`"x","${folder}","tmpfs",0,0`)),
    inCopy(37, "bind-mount the root", mounts(`"/","${folder}",0,4096,0`)),
    inCopy(37, "remount /usr writable", succeeds(165, `0,"/usr",0,4128,0`)),
    inCopy(
      37,
      "unmount /proc",
      `perl -e '$! = 0; $r = ${systemCall(166, '"/proc",0')}; print "ESCAPED\\n" if $r == 0 or $! == 16'`,
    ),
    inCopy(37, "new mount interface (fsopen)", calls(430, '"tmpfs",0')),
    inCopy(37, "open_tree", calls(428, '-100,"/",1')),
    inCopy(37, "chroot", calls(161, '"/tmp"')),
    inCopy(37, "pivot_root", calls(155, '"/","/"')),
    inCopy(37, "release_agent of control groups", mounts(`"cgroup2","${folder}","cgroup2",0,0`)),
    inCopy(37, "open_by_handle_at", calls(304, "0,0,0")),
    onMachine(
      38,
      "trace a process of the machine",
      `perl -e 'print "ESCAPED\\n" if syscall(101,16,${hostPid},0,0) == 0'`,
    ),
    // EFAULT: the process may be read, and has nothing at this address.
    onMachine(
      38,
      "read memory of a process of the machine",
      `perl -e '$b = "x" x 8; $v = pack("QQ", unpack("Q", pack("P", $b)), 8); print "ESCAPED\\n" if syscall(310,${hostPid},$v,1,$v,1,0) >= 0 or $! == 14'`,
    ),
    onMachine(
      38,
      "see a process of the machine",
      `grep -qa sleep /proc/${hostPid}/cmdline 2>/dev/null && echo ESCAPED`,
    ),
    onMachine(38, "environment of a process of the machine", reads(`/proc/${hostPid}/environ`)),
    onMachine(39, "signal a process of the machine", does(`kill -0 ${hostPid}`)),
    onMachine(39, "a descriptor of a process of the machine", succeeds(434, `${hostPid},0`)),
    inCopy(40, "core_pattern", opens("/proc/sys/kernel/core_pattern")),
    inCopy(40, "the machine's name", opens("/proc/sys/kernel/hostname")),
    inCopy(40, "sysrq", opens("/proc/sysrq-trigger")),
    inCopy(41, "open any file of the kernel for writing", writableKernelFiles),
    inCopy(
      41,
      "make a control group",
      "for place in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $place/convoke-escape 2>/dev/null && rmdir $place/convoke-escape && echo ESCAPED; done",
    ),
    inCopy(42, "read the session's keys", calls(250, "0,-3,1")),
    inCopy(42, "read the user's keys", calls(250, "0,-4,1")),
    inCopy(42, "add a key", calls(248, '"user","x","y",1,-3')),
    inCopy(43, "io_uring", calls(425, "1,0")),
    inCopy(44, "bpf", calls(321, "0,0,0")),
    inCopy(44, "perf_event_open", calls(298, "0,0,-1,-1,0")),
    inCopy(44, "userfaultfd", calls(323, "0")),
    inCopy(44, "load a kernel module", calls(313, "0,0,0")),
    inCopy(44, "read the kernel's log by its call", calls(103, "3,0,0")),
    inCopy(44, "set the clock", calls(227, "0,0")),
    inCopy(44, "reboot", calls(169, "0xfee1dead,672274793,0x89abcdef,0")),
    inCopy(45, "vsock to the hypervisor", calls(41, "40,1,0")),
    inCopy(45, "raw socket", calls(41, "2,3,1")),
    inCopy(45, "packet socket", calls(41, "17,3,768")),
    inCopy(45, "socket of the kernel's cryptography", calls(41, "38,5,0")),
    inCopy(
      46,
      "type into the server's terminal (TIOCSTI)",
      `perl -e 'open(T,"+<","/proc/1/fd/0") or exit; print "ESCAPED\\n" if ioctl(T,0x5412,my $key = "x")'`,
    ),
    inCopy(47, "numbers of x32", calls(0x4000_0027, "")),
    inCopy(null, "run a set-user-id program", does("su -c true root </dev/null")),
    inCopy(
      null,
      "copy a set-user-id program",
      `cp /bin/bash ${workspace}/sh && chmod u+s ${workspace}/sh && [ "$(${workspace}/sh -p -c 'id -u')" = 0 ] && echo ESCAPED`,
    ),
    inCopy(null, "become root", `perl -e '$< = $> = 0; print "ESCAPED\\n" if $> == 0'`),
    inCopy(
      null,
      "have a capability",
      "grep -E '^Cap(Prm|Eff|Bnd|Amb)' /proc/self/status | grep -qv '0000000000000000' && echo ESCAPED",
    ),
    onMachine(null, "gain privileges", "grep -q 'NoNewPrivs:.*0' /proc/self/status && echo ESCAPED"),
    // Also the machine's root may lack the capability for it, in a container.
    inCopy(
      null,
      "raise a limit",
      '[ $(( 0x$(grep ^CapBnd /proc/self/status | cut -f2) >> 24 & 1 )) = 1 ] || echo absent; ulimit -u unlimited 2>/dev/null && [ "$(ulimit -u)" = unlimited ] && echo ESCAPED',
    ),
  ];
}
