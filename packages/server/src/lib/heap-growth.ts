import { getHeapStatistics, setFlagsFromString } from "node:v8";

const mebibyte = 1024 * 1024;
/** Above this size memory matters more than the time of another collection. */
const largeBytes = 192 * mebibyte;
/** Below this size the runtime's default applies again; the gap to the upper limit avoids a change at each check. */
const smallBytes = 128 * mebibyte;
/** How much a large heap may grow until the next full collection, in percent of its size after the last one. */
const growingPercent = 50;
/** The runtime's default, which is 100 and more. */
const ownMeasure = 0;

type HeapGrowthDeps = {
  readonly usedBytes: () => number;
  readonly setFlags: (flags: string) => void;
};

/**
 * Makes the runtime collect a large heap when it has grown by half. By default the runtime waits until it has doubled,
 * or more: the garbage of a turn lives as long as a model call, too long for the young generation. The flag is set for
 * as long as the heap is large: with it V8 takes no code that was compiled without, as Node's own is.
 *
 * Only for memory, which `npm run bench -- many-runs:long` reports; no row of the budget is about it.
 */
export class HeapGrowth implements Disposable {
  readonly #deps: HeapGrowthDeps;
  #isSlow = false;

  constructor(
    deps: HeapGrowthDeps = {
      usedBytes: () => getHeapStatistics().used_heap_size,
      setFlags: setFlagsFromString,
    },
  ) {
    this.#deps = deps;
  }

  /** Call it about once a second. */
  check(): void {
    const usedBytes = this.#deps.usedBytes();
    if (this.#isSlow ? usedBytes < smallBytes : usedBytes > largeBytes) this.#set(!this.#isSlow);
  }

  [Symbol.dispose](): void {
    if (this.#isSlow) this.#set(false);
  }

  #set(isSlow: boolean): void {
    this.#isSlow = isSlow;
    this.#deps.setFlags(`--heap-growing-percent=${isSlow ? growingPercent : ownMeasure}`);
  }
}
