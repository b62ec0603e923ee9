/*
 * Loaded before everything else (`node --import`), it replaces `Date` with one that can be set: the clock of one process jumps, and
 * the machine's stays. What counts by `performance.now()` sees nothing of it, as with a real clock.
 */
const RealDate = Date;
let shiftMs = 0;

class ShiftedDate extends RealDate {
  constructor(...values: [] | ConstructorParameters<typeof RealDate>) {
    if (values.length === 0) super(RealDate.now() + shiftMs);
    else super(...values);
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
}
globalThis.Date = ShiftedDate as DateConstructor;

/** Shifts this process's clock by so many milliseconds from the machine's. */
export function shiftClock(milliseconds: number): void {
  shiftMs = milliseconds;
}
