import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wellFormed, wellFormedJson } from "./well-formed.ts";

describe("well formed texts", () => {
  test.each([
    ['{"a":"x\\ud83d y"}', '{"a":"x\\ufffd y"}'],
    ['{"a":"\\ud83d\\ude00"}', '{"a":"\\ud83d\\ude00"}'],
    ['{"a":"\\\\ud83d"}', '{"a":"\\\\ud83d"}'],
    ['{"a":"\\\\\\uDE00\\uD83D"}', '{"a":"\\\\\\ufffd\\ufffd"}'],
    ['{"a":"\ud83d"}', '{"a":"\ufffd"}'],
    ['{"a":"\\ud83d\ude00"}', '{"a":"\\ufffd\ufffd"}'],
  ])("P12: %s holds no half of a pair", (text, expected) => {
    expect(wellFormedJson(text)).toBe(expected);
  });

  test("P12: any value of JSON has none left, plain or as text, and one without stays the same", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "\\", '"', "\ud83d", "\ude00", "u", "d83d", "\n") });
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: "small" }), fc.array(text), (value, texts) => {
        const whole = { value, texts, [texts[0] ?? "k"]: 1 };
        const fitted = wellFormed(whole);
        const isWhole = (json: string): boolean =>
          JSON.stringify(JSON.parse(json)) === JSON.stringify(wellFormed(JSON.parse(json)));
        expect(isWhole(JSON.stringify(fitted))).toBe(true);
        expect(isWhole(wellFormedJson(JSON.stringify(whole)))).toBe(true);
        expect(wellFormed(fitted)).toBe(fitted);
      }),
    );
  });
});
