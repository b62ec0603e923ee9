import { setFlagsFromString } from "node:v8";

/** By how much the heap may grow, in percent of what was in use after the last collection of all of it, until the next one. */
const growingPercent = 50;

/**
 * Has this process collect all of its heap when that has grown by half. Without it the runtime waits until it is twice as large, or more: what a
 * turn of a conversation leaves behind lives as long as its model takes to answer, which is too long for the collections of the young heap.
 */
export function growHeapSlowly(): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
}
