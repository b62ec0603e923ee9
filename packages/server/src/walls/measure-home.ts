import { execFile } from "node:child_process";
import { lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** A folder that programs fill again by themselves. */
export type CacheFolder = {
  readonly path: string;
  readonly bytes: number;
  /** Of its newest file. */ readonly changedMs: number;
};

export type HomeSize = {
  /** Everything, caches included. */
  readonly bytes: number;
  /** Those that changed last come last. */
  readonly caches: readonly CacheFolder[];
};

const run = promisify(execFile);

/** Caches of package managers and compilers, relative to the home; each folder in `.cache` is one as well. */
const knownCaches = [
  ".npm/_cacache",
  ".npm/_npx",
  ".yarn/cache",
  ".yarn/berry/cache",
  ".pnpm-store",
  ".local/share/pnpm/store",
  ".bun/install/cache",
  "go/pkg/mod",
  ".cargo/registry",
  ".cargo/git",
  ".gradle/caches",
  ".m2/repository",
  ".ivy2/cache",
  ".nuget/packages",
  ".pub-cache",
  ".composer/cache",
];

/**
 * Counts what a private home takes on its disk, in a program of its own with the lowest priority. Rejects when that takes longer than
 * `timeoutMs`. Links are not followed.
 */
export async function measureHome(home: string, timeoutMs: number): Promise<HomeSize> {
  const folders = await findCaches(home);
  // A file that was counted once is not counted again: what `du` says of the home is the rest.
  const args = ["-n", "19", "du", "-skx", "--null", "--time", "--time-style=+%s", "--", ...folders, home];
  const { stdout } = await run("nice", args, { timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024 }).catch(
    (error: unknown) => {
      // What was removed meanwhile, or cannot be read, is missing in the sum.
      const { code, stdout: counted } = error as { readonly code?: unknown; readonly stdout?: string };
      if (code === 1 && counted) return { stdout: counted };
      throw error;
    },
  );
  const lines = stdout.split("\0").flatMap((line) => {
    const [, kilobytes, seconds, path] = /^(\d+)\t(\d+)\t(.+)$/s.exec(line) ?? [];
    return path === undefined
      ? []
      : [{ path, bytes: Number(kilobytes) * 1024, changedMs: Number(seconds) * 1_000 }];
  });
  return {
    bytes: lines.reduce((sum, { bytes }) => sum + bytes, 0),
    caches: lines.filter(({ path }) => path !== home).toSorted((a, b) => a.changedMs - b.changedMs),
  };
}

async function findCaches(home: string): Promise<string[]> {
  const inCache = await readdir(join(home, ".cache")).catch(() => []);
  const candidates = [...knownCaches, ...inCache.map((name) => join(".cache", name))];
  const found = await Promise.all(
    candidates.map(async (path) => ((await isInside(home, path)) ? [path] : [])),
  );
  return found.flat().map((path) => join(home, path));
}

/** Whether it is a folder, reached without any link: the agent may have put one in the way. */
async function isInside(home: string, path: string): Promise<boolean> {
  for (let at = path; at !== "."; at = dirname(at)) {
    const found = await lstat(join(home, at)).catch(() => null);
    if (found?.isDirectory() !== true) return false;
  }
  return true;
}
