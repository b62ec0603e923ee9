import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Frees what was allocated lately and is not used any more, in about a millisecond; null where the runtime has no such call.
 * Each piece of a body arrives in memory outside the heap, where some 64 MiB of dead pieces gather before the runtime looks.
 */
export function openYoungCollector(): (() => void) | null {
  const collect = openCollect();
  return collect === null ? null : () => collect({ type: "minor" });
}

/**
 * Frees everything that is not used any more and gives the pages back, in a tenth of a second or less; null as above. A heap
 * that has grown shrinks only while somebody allocates, which nobody does at rest.
 */
export function openWholeCollector(): (() => void) | null {
  const collect = openCollect();
  // The flavor is what gives the young part of the heap back as well, which is the larger one of a server at rest.
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
