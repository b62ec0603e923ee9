/**
 * A system call filter for sandboxes: what could reach the kernel's shared parts from a namespace is refused. Numbers are
 * from the kernel's tables (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
 */
type Architecture = {
  /** AUDIT_ARCH_* of the only architecture whose calls pass. */
  readonly audit: number;
  readonly socket: number;
  /** Refused with EPERM. */
  readonly refused: readonly number[];
};

/** The same number on every architecture: open_tree to fspick, mount_setattr, quotactl_fd, pidfd_getfd. */
const newRefused = [428, 429, 430, 431, 432, 433, 438, 442, 443];
/** io_uring: programs must believe that the kernel has none. */
const absent = [425, 426, 427];

const architectures: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    refused: [
      [165, 166, 155, 161, 308, 272, 167, 168, 169, 163, 179], // mount, umount2, pivot_root, chroot, setns, unshare, swapon, swapoff, reboot, acct, quotactl
      [175, 176, 313, 246, 320], // init_module, delete_module, finit_module, kexec_load, kexec_file_load
      [248, 249, 250], // add_key, request_key, keyctl
      [321, 298, 323, 304, 103], // bpf, perf_event_open, userfaultfd, open_by_handle_at, syslog
      [172, 173, 159, 164, 227, 305], // iopl, ioperm, adjtimex, settimeofday, clock_settime, clock_adjtime
      newRefused,
    ].flat(),
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    refused: [
      [40, 39, 41, 51, 268, 97, 224, 225, 142, 89, 60],
      [105, 106, 273, 104, 294],
      [217, 218, 219],
      [280, 241, 282, 265, 116],
      [171, 170, 112, 266],
      newRefused,
    ].flat(),
  },
};

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK; others (VSOCK above all) are not confined by a network namespace. */
const socketFamilies = [1, 2, 10, 16];

/** The filter as the kernel takes it (struct sock_filter[], little endian), or null for an architecture without a table. */
export function systemCallFilter(architecture: string): Buffer | null {
  const table = architectures[architecture];
  if (table === undefined) return null;
  const program: Instruction[] = [
    load(offsets.architecture),
    jumpUnless(table.audit, 1),
    ret(killProcess),
    load(offsets.number),
    // The x32 numbering of x86-64 would go around every number below.
    ...(architecture === "x64" ? [jumpBelow(0x40000000, 1), ret(errno.noSuchCall)] : []),
    ...table.refused.flatMap((number) => [jumpTo(number), ret(errno.notPermitted)]),
    ...absent.flatMap((number) => [jumpTo(number), ret(errno.noSuchCall)]),
    // clone with CLONE_NEWUSER is refused by a limit of the namespace; clone3 hides its flags, so libc must use clone.
    jumpTo(435),
    ret(errno.noSuchCall),
    { code: jumpIfEqual, yes: 1, no: 0, value: table.socket },
    ret(allow),
    load(offsets.firstArgument),
    ...socketFamilies.flatMap((family) => [jumpTo(family), ret(allow)]),
    ret(errno.noSuchFamily),
  ];
  return Buffer.concat(program.map(encode));
}

type Instruction = {
  readonly code: number;
  readonly yes: number;
  readonly no: number;
  readonly value: number;
};

const offsets = { number: 0, architecture: 4, firstArgument: 16 };
const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const returnValue = 0x06;
const allow = 0x7fff0000;
const killProcess = 0x80000000;
const errno = { notPermitted: 0x50000 | 1, noSuchCall: 0x50000 | 38, noSuchFamily: 0x50000 | 97 };

function load(offset: number): Instruction {
  return { code: loadWord, yes: 0, no: 0, value: offset };
}

function ret(value: number): Instruction {
  return { code: returnValue, yes: 0, no: 0, value };
}

/** Runs the next instruction when equal, skips it otherwise. */
function jumpTo(value: number): Instruction {
  return { code: jumpIfEqual, yes: 0, no: 1, value };
}

/** Skips `count` instructions when equal, runs them otherwise. */
function jumpUnless(value: number, count: number): Instruction {
  return { code: jumpIfEqual, yes: count, no: 0, value };
}

/** Skips `count` instructions when below, runs them otherwise. */
function jumpBelow(value: number, count: number): Instruction {
  return { code: jumpIfAtLeast, yes: 0, no: count, value };
}

function encode({ code, yes, no, value }: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(yes, 2);
  bytes.writeUInt8(no, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
