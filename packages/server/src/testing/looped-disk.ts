import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A real file system (ext4) in a file, which can disappear and come back while the machine runs. */
export type LoopedDisk = Disposable & {
  /** The mount point. */
  readonly path: string;
  /** The file system refuses further writes, as after a failure of the disk below it. */
  abort(): void;
  /** Freezes the disk's current content: everything that was not synced is lost when it comes back. */
  cut(): void;
  /** Unmounts, checks and mounts again. Processes with open files there must have ended. */
  comeBack(): void;
};

/** Null where this process may not mount. */
export function openLoopedDisk({ megabytes }: { readonly megabytes: number }): LoopedDisk | null {
  if (process.getuid?.() !== 0) return null;
  const root = mkdtempSync(join(tmpdir(), "convoke-loop-"));
  const image = join(root, "image");
  const copy = join(root, "kept");
  const path = join(root, "mounted");
  let isCut = false;
  const mount = (): void => run("mount", ["-o", "loop,X-mount.mkdir", image, path]);
  const unmount = (): void => run("umount", ["-d", path]);
  try {
    writeFileSync(image, "");
    truncateSync(image, megabytes * 1024 * 1024);
    run("mkfs.ext4", ["-q", image]);
    mount();
  } catch {
    // No loop devices here, or no ext4.
    rmSync(root, { recursive: true, force: true });
    return null;
  }
  return {
    path,
    abort: () => run("mount", ["-o", "remount,abort", path]),
    cut: () => {
      copyFileSync(image, copy);
      isCut = true;
    },
    comeBack: () => {
      unmount();
      if (isCut) copyFileSync(copy, image);
      isCut = false;
      // Exit code 1: repaired.
      run("e2fsck", ["-fy", image], [0, 1]);
      mount();
      // The kernel's remains of the aborted file system may make this one read-only at once: then it is not back yet.
      writeFileSync(join(path, "back"), "");
    },
    [Symbol.dispose]: () => {
      unmount();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function run(program: string, given: readonly string[], good: readonly number[] = [0]): void {
  const { status, stderr } = spawnSync(program, given, { encoding: "utf8" });
  if (status === null || !good.includes(status)) throw new Error(`${program} ${given.join(" ")}: ${stderr}`);
}
