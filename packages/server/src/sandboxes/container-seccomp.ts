/**
 * The system call filter of containers, as engines take it. It refuses what an engine's own filter refuses without capabilities,
 * and what reaches past a network namespace or into young parts of the kernel: sockets of other families than a program on a
 * network needs, io_uring, and the calls of 32-bit programs, which have numbers of their own.
 */
export function containerFilter(architecture: string): object | null {
  const name = architectureNames[architecture];
  if (name === undefined) return null;
  return {
    defaultAction: "SCMP_ACT_ALLOW",
    // Calls of any other kind end the program.
    architectures: [name],
    syscalls: [
      refuse(notPermitted, refusedCalls),
      refuse(noSuchCall, absentCalls),
      ...newNamespaces.map((flag) =>
        refuse(notPermitted, ["clone"], { op: "SCMP_CMP_MASKED_EQ", value: flag, valueTwo: flag }),
      ),
      ...refusedFamilies.map((family) =>
        refuse(noSuchFamily, ["socket"], { op: "SCMP_CMP_EQ", value: family }),
      ),
      refuse(noSuchFamily, ["socket"], { op: "SCMP_CMP_GT", value: lastFamily }),
    ],
  };
}

const architectureNames: Readonly<Record<string, string>> = {
  x64: "SCMP_ARCH_X86_64",
  arm64: "SCMP_ARCH_AARCH64",
};

const [notPermitted, noSuchCall, noSuchFamily] = [1, 38, 97];

const refusedCalls = [
  "mount umount umount2 pivot_root chroot setns unshare swapon swapoff reboot acct quotactl quotactl_fd",
  "open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr",
  "init_module finit_module delete_module create_module query_module get_kernel_syms kexec_load kexec_file_load",
  "add_key request_key keyctl bpf perf_event_open userfaultfd open_by_handle_at name_to_handle_at lookup_dcookie",
  "syslog iopl ioperm vm86 vm86old modify_ldt uselib ustat sysfs _sysctl nfsservctl vhangup",
  "adjtimex clock_adjtime clock_settime settimeofday stime",
  "kcmp pidfd_getfd process_madvise process_vm_readv process_vm_writev",
  "move_pages migrate_pages mbind set_mempolicy set_mempolicy_home_node fanotify_init",
].flatMap((line) => line.split(" "));

/** Programs must believe that the kernel has none; clone3 hides its flags, so that libc must use clone. */
const absentCalls = ["io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"];

/** Mounts, control groups, host names, IPC, users, processes, networks. */
const newNamespaces = [
  0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000,
];

/** AF_NETLINK; below it AF_UNIX, AF_INET and AF_INET6 are left. */
const lastFamily = 16;
const refusedFamilies = [3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15];

function refuse(errnoRet: number | undefined, names: readonly string[], arg?: object): object {
  return {
    names,
    action: "SCMP_ACT_ERRNO",
    errnoRet,
    args: arg === undefined ? undefined : [{ index: 0, ...arg }],
  };
}
