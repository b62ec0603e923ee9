/** A random source that is reproducible by its seed. */
export type Random = {
  /** 0 <= x < 1. */
  next(): number;
  /** A whole number from 0 to `below` - 1. */
  whole(below: number): number;
};

/** Mulberry32: 32 bits of state, good enough to choose moments. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, whole: (below) => Math.floor(next() * below) };
}
