// Part of what every Node that knows modules must be able to load, see `bin.ts`.
import { mkdirSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/**
 * The folder for compiled code, which the next start runs: in the caller's own home, not in the shared folder for temporary files. Null where
 * others could put code: in a home of somebody else (`sudo` may keep `HOME`), whose files would become ours besides, and in a folder that is
 * not the caller's. One of ours that others may write, as a wide umask leaves it, is emptied first. Null also where there is no home, and
 * where nothing can be made in it.
 */
export function openCacheFolder(): string | null {
  try {
    const home = homedir();
    if (!isAbsolute(home) || !isTrusted(statSync(home).uid)) return null;
    const folder = join(home, ".cache", "convoke");
    mkdirSync(folder, { recursive: true, mode: onlyOurs });
    const found = statSync(folder);
    // The owner of the parent folder could replace this one.
    if (!isTrusted(found.uid) || !isTrusted(statSync(dirname(folder)).uid)) return null;
    if ((found.mode & writableByOthers) === 0) return folder;
    rmSync(folder, { recursive: true });
    mkdirSync(folder, { mode: onlyOurs });
    return folder;
  } catch {
    // Then each start compiles again.
    return null;
  }
}

const onlyOurs = 0o700;
const writableByOthers = 0o022;

/** What root may do, it may do anyhow. */
function isTrusted(uid: number): boolean {
  return uid === 0 || (process.geteuid !== undefined && uid === process.geteuid());
}
