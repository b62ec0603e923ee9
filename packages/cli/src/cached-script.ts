import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { Module, createRequire } from "node:module";
import { dirname } from "node:path";
import { Script, constants } from "node:vm";
import { crc32 } from "node:zlib";

export type CachedScript = {
  readonly exports: unknown;
  /**
   * Caches the code that is compiled by now, unless it ran with a cache that was complete, or this one is not complete and there was any.
   * It is complete once the script has done what its start is measured by. True when it was cached now.
   */
  readonly keep: (what: { readonly isWhole: boolean }) => boolean;
};

type CachedCode = {
  readonly isWhole: boolean;
  readonly code: Buffer;
};

/**
 * Runs a CommonJS script with the code that was compiled for it: by an earlier start, in `cacheFile`, or by the build, in
 * `builtFile`. That is also code of the functions that ran by then, which Node's own cache has not: it keeps a file as it
 * is before any of it has run.
 *
 * The text of `file` is ASCII, and one function that takes what Node gives to a CommonJS module. What is in `cacheFile` is
 * run: it must be writable for the current user alone. Nothing is cached when it is null. `builtFile` belongs to the package as
 * `file` does, and may be absent: V8 refuses it in another Node than the one of the build.
 *
 * Only for speed: B1, B1.first
 */
export function runCachedScript(
  file: string,
  { cacheFile, builtFile }: { readonly cacheFile: string | null; readonly builtFile: string | null },
): CachedScript {
  const source = readFileSync(file);
  const sourceSum = crc32(source);
  const own = cacheFile === null ? null : readCached(() => readOwn(cacheFile), sourceSum);
  const built =
    builtFile === null || own?.isWhole === true ? null : readCached(() => readFileSync(builtFile), sourceSum);
  const cached = built ?? own;
  const script = new Script(source.toString("latin1"), {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cached === null ? {} : { cachedData: cached.code }),
  });
  // Not the code itself: it is megabytes.
  let isTaken = cached !== null && script.cachedDataRejected === false;
  let isTakenWhole = isTaken && cached?.isWhole === true;
  const require = createRequire(file);
  const module = new Module(file);
  // Its late parts require it.
  require.cache[file] = module;
  const body = script.runInThisContext() as (...given: readonly unknown[]) => void;
  body(module.exports, require, module, file, dirname(file));
  module.loaded = true;
  return {
    exports: module.exports,
    keep: ({ isWhole }) => {
      if (cacheFile === null || isTakenWhole || (isTaken && !isWhole)) return false;
      isTaken = true;
      isTakenWhole = isWhole;
      return writeCached(cacheFile, sourceSum, { isWhole, code: script.createCachedData() });
    },
  };
}

/**
 * Before the code: the sum of the text, of which V8 compares no more than the length; that of the code, which V8 runs as
 * it is; and whether it is whole.
 */
const headBytes = 12;

/** Null when nothing valid is cached, or others could have written it. */
function readCached(read: () => Buffer, sourceSum: number): CachedCode | null {
  let cached: Buffer;
  try {
    cached = read();
  } catch {
    // Not there, or it cannot be read: compiled again.
    return null;
  }
  const code = cached.subarray(headBytes);
  if (code.length === 0 || cached.readUInt32LE(0) !== sourceSum || cached.readUInt32LE(4) !== crc32(code))
    return null;
  return { isWhole: cached.readUInt32LE(8) === 1, code };
}

/** Empty when it is not ours alone. */
function readOwn(file: string): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const { uid, mode } = fstatSync(descriptor);
    const isOurs = uid === process.geteuid?.() && (mode & writableByOthers) === 0;
    return isOurs ? readFileSync(descriptor) : Buffer.alloc(0);
  } finally {
    closeSync(descriptor);
  }
}

const writableByOthers = 0o022;

/** Another file that takes the place of the last one, because several processes may start at once. False where it cannot be written. */
function writeCached(cacheFile: string, sourceSum: number, { isWhole, code }: CachedCode): boolean {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(sourceSum, 0);
  head.writeUInt32LE(crc32(code), 4);
  head.writeUInt32LE(isWhole ? 1 : 0, 8);
  const part = `${cacheFile}.${process.pid}`;
  try {
    mkdirSync(dirname(cacheFile), { recursive: true, mode: 0o700 });
    try {
      writeFileSync(part, Buffer.concat([head, code]), { mode: 0o600 });
      renameSync(part, cacheFile);
    } catch (error) {
      rmSync(part, { force: true });
      throw error;
    }
    return true;
  } catch {
    // A full disk, or a folder that cannot be written: the next start compiles again.
    return false;
  }
}
