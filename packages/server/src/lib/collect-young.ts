import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Collects the young generation, in about a millisecond; null when the runtime has no such call. Chunks of a body are
 * allocated outside the heap, where some 64 MiB of garbage gather before the runtime collects.
 */
export function openYoungCollector(): (() => void) | null {
  const collect = openCollect();
  return collect === null ? null : () => collect({ type: "minor" });
}

/**
 * Collects all garbage and returns the pages to the system, in a tenth of a second or less; null as above. A grown heap
 * shrinks only during allocations, which an idle server does not make.
 */
export function openWholeCollector(): (() => void) | null {
  const collect = openCollect();
  // This flavor also returns the young generation's memory, the larger part in an idle server.
  return collect === null ? null : () => collect({ type: "major", flavor: "last-resort" });
}

function openCollect(): Collect | null {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const collect = takeCollect();
    if (collect !== undefined) return collect;
  }
  return null;
}

/** Flags are those of the whole process: another thread may take this one back before the function is there. */
const maxAttempts = 5;

/** The flag only adds the function; the global object of the server stays without it. */
function takeCollect(): Collect | undefined {
  setFlagsFromString("--expose-gc");
  try {
    return runInNewContext("globalThis.gc") as Collect | undefined;
  } finally {
    // With other flags V8 refuses what it compiled earlier, also of Node's own modules, and compiles it again.
    setFlagsFromString("--no-expose-gc");
  }
}

type Collect = (options: { readonly type: "minor" | "major"; readonly flavor?: "last-resort" }) => void;
