import { isAbsolute, relative, sep } from "node:path";

/** True when `path` is `root` or below it; both must be real paths. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
