/** On Linux a path through an open file or directory itself, whatever its name leads to by now. */
export function descriptorPath(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

/** Where Linux reports a process, its environment and memory among it. */
export function processFolder(pid: number): string {
  return `/proc/${pid}`;
}
