import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, chownSync, rmdirSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A small file system in memory that can be filled to its last byte. */
export type LimitedDisk = Disposable & {
  /** An empty folder in it. */
  readonly path: string;
  /** Another empty folder, for the same owner. */
  addFolder(): string;
  fill(): Promise<void>;
  free(): Promise<void>;
};

export type LimitedDiskOptions = {
  readonly megabytes: number;
  /** Owner of the folder. */
  readonly owner: { readonly uid: number; readonly gid: number };
};

/** Null where this process may not mount. */
export function openLimitedDisk({ megabytes, owner }: LimitedDiskOptions): LimitedDisk | null {
  if (process.getuid?.() !== 0) return null;
  const root = mkdtempSync(join(tmpdir(), "convoke-disk-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0755`, "tmpfs", root]);
  if (status !== 0) {
    rmdirSync(root);
    return null;
  }
  const addFolder = (): string => {
    const path = join(root, randomUUID());
    mkdirSync(path);
    chownSync(path, owner.uid, owner.gid);
    return path;
  };
  const filler = join(root, "filler");
  return {
    path: addFolder(),
    addFolder,
    fill: async () => await fillUp(filler),
    free: async () => await rm(filler, { force: true }),
    [Symbol.dispose]: () => {
      const { status: left, stderr } = spawnSync("umount", [root], { encoding: "utf8" });
      if (left !== 0) throw new Error(`The disk of a test stays mounted: ${stderr}`);
      rmdirSync(root);
    },
  };
}

async function fillUp(file: string): Promise<void> {
  await using handle = await open(file, "w");
  for (let size = 1 << 20; size >= 4096; size /= 2) {
    const block = Buffer.alloc(size);
    try {
      for (;;) await handle.appendFile(block);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
}
