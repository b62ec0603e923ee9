import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { runCachedScript } from "./cached-script.ts";
import type { main } from "./main.ts";
import { sweepCache } from "./sweep-cache.ts";

export type LoadedMain = {
  readonly main: typeof main;
  /** Once a server has started: keeps what was compiled for it, so that the next start need not. */
  readonly keepCompiled: () => void;
};

/** From the sources as modules, from the package as one script. Compiled code is cached in `cacheFolder`; null caches nothing. */
export async function loadMain(cacheFolder: string | null): Promise<LoadedMain> {
  const file = fileURLToPath(new URL("./main.ts", import.meta.url));
  // In the package the address names the script.
  if (file.endsWith(".ts"))
    return { main: (await import("./main.ts")).main, keepCompiled: flushCompileCache };
  // One for each place and Node: a newer release in the same place takes that of the one before.
  const place = crc32(file).toString(16);
  const runtime = `${process.version}-${process.arch}`;
  const script = runCachedScript(file, {
    cacheFile: cacheFolder === null ? null : join(cacheFolder, `main-${place}-${runtime}`),
    // Written by `scripts/compile-program.ts`.
    builtFile: `${file}.${runtime}`,
  });
  const { main } = script.exports as Pick<LoadedMain, "main">;
  // A command that starts no server keeps what it has where there is nothing yet.
  process.once("exit", () => void script.keep({ isWhole: false }));
  return {
    main,
    keepCompiled: () => {
      // After the first answers: it takes longer than one of them. Soon: V8 drops what has not run for a while.
      const keep = (): void => {
        // Once for a release in a place: its code has taken the room of the one before.
        if (script.keep({ isWhole: true }) && cacheFolder !== null) void sweepCache(cacheFolder);
      };
      setTimeout(keep, keepAfterMs).unref();
      // Of what is a file of its own. Node would do it at the end, which a server that is killed has not.
      flushCompileCache();
    },
  };
}

const keepAfterMs = 500;
