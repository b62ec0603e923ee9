import { constants } from "node:fs";
import { open, readFile, readlink, stat } from "node:fs/promises";
import { descriptorPath } from "@convoke/tool-host/system";

/** Which file or folder a path means, without following a link anywhere. */
export type FileIdentity = { readonly path: string; readonly device: number; readonly inode: number };

/** Only names it: nothing is read, and pipes and devices are not opened. */
const onlyPath = 0o10_000_000;

/** Null when the path leads through a link, or to nothing. `path` is absolute. */
export async function identify(path: string): Promise<FileIdentity | null> {
  try {
    await using handle = await open(path, onlyPath | constants.O_NOFOLLOW);
    // The name of what was opened, which is another one when a folder on the way is a link.
    if ((await readlink(descriptorPath(handle.fd))) !== path) return null;
    const { dev, ino } = await handle.stat();
    return { path, device: dev, inode: ino };
  } catch {
    return null;
  }
}

/**
 * The first path that does not show in a process with a root of its own as it was identified outside, or is no mount there; null when all
 * do. A process that may write in a folder around them can put a link in their place while they are mounted.
 */
export async function findSwapped(
  processId: number,
  expected: readonly FileIdentity[],
): Promise<string | null> {
  const mounts = await readFile(`/proc/${processId}/mountinfo`, "latin1");
  const places = new Set(mounts.split("\n").map((line) => toPath(line.split(" ")[4] ?? "")));
  for (const { path, device, inode } of expected) {
    const inside = await stat(`/proc/${processId}/root${path}`).catch(() => null);
    if (inside?.dev !== device || inside.ino !== inode || !places.has(path)) return path;
  }
  return null;
}

/** The first path that is not any more what it was identified as; null when all are. */
export async function findReplaced(expected: readonly FileIdentity[]): Promise<string | null> {
  for (const { path, device, inode } of expected) {
    const now = await identify(path);
    if (now?.device !== device || now.inode !== inode) return path;
  }
  return null;
}

/** Spaces and the like are octal there. */
function toPath(field: string): string {
  const bytes = field.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
  return Buffer.from(bytes, "latin1").toString();
}
