/**
 * What engines make read-only in a container unless they are told, and /proc/pressure: there everybody may write, which makes the kernel
 * work.
 */
export const readOnlyPaths = [
  "/proc/bus",
  "/proc/fs",
  "/proc/irq",
  "/proc/sys",
  "/proc/sysrq-trigger",
  "/proc/pressure",
] as const;
