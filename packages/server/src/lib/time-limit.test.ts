import { describe, expect, test } from "vitest";
import { TooSlow, withinTime } from "./time-limit.ts";

describe("a job with a time limit", () => {
  test("its result and its own errors come through", () => {
    expect(withinTime(100, () => 7)).toBe(7);
    const refuse = (): never => {
      throw new RangeError("no");
    };
    expect(() => withinTime(100, refuse)).toThrow(RangeError);
  });

  test("an endless expression is cut off", () => {
    expect(() => withinTime(50, () => /^(a+)+$/.test(`${"a".repeat(40)}!`))).toThrow(TooSlow);
  });

  test("a job during which the machine was suspended is not slow", () => {
    let begun = 0;
    const job = (): number => {
      begun += 1;
      if (begun === 1) waitIdle(500);
      return begun;
    };
    expect(withinTime(40, job)).toBeGreaterThan(1);
  });
});

/** Without using the processor. */
function waitIdle(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}
