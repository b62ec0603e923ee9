import { getHeapStatistics, setFlagsFromString } from "node:v8";

const mebibyte = 1024 * 1024;
/** From here on memory counts more than what one more collection takes. */
const largeBytes = 192 * mebibyte;
/** Below this the runtime decides again; far enough from the other, so that it does not change at each look. */
const smallBytes = 128 * mebibyte;
/** By how much a large heap may grow, in percent of what was in use after the last collection of all of it, until the next one. */
const growingPercent = 50;
/** The runtime's own measure, which is 100 and more. */
const ownMeasure = 0;

type HeapGrowthDeps = {
  readonly usedBytes: () => number;
  readonly setFlags: (flags: string) => void;
};

/**
 * Has this process collect all of a large heap when that has grown by half. Without it the runtime waits until it is twice as large, or more:
 * what a turn of a conversation leaves behind lives as long as its model takes to answer, which is too long for the collections of the young
 * heap. The flag is set for as long as the heap is large: with it V8 takes no code that was compiled without, as Node's own is.
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

  /** To be called about once a second. */
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
