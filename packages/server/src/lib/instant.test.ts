import { expect, test } from "vitest";
import { formatInstant, parseInstant } from "./instant.ts";

test("P40: one fixed-width UTC form is written", () => {
  expect(formatInstant(0)).toBe("1970-01-01T00:00:00.000000Z");
  expect(formatInstant(1_769_860_800_000_007)).toBe("2026-01-31T12:00:00.000007Z");
});

test.each([
  "2026-01-31T12:00:00Z",
  "2026-01-31T12:00:00.000000Z",
  "2026-01-31T12:00:00",
  "2026-01-31t13:00:00+01:00",
  "2026-01-31T13:00:00 01:00",
  "2026-01-31T06:30:00-0530",
  "2026-01-31 12:00",
])("P40: %s names the same instant in any zone", (text) => {
  expect(parseInstant(text)).toBe(1_769_860_800_000_000);
});

test("P40: what is written parses back exactly", () => {
  for (const micros of [0, 1, 999_999, 1_769_860_800_123_456])
    expect(parseInstant(formatInstant(micros))).toBe(micros);
});

test.each([
  "",
  "yesterday",
  "2026-02-30T00:00:00Z",
  "2026-01-01T25:00:00Z",
  "2026-01-01T00:00:00+99:00",
  "20260101",
])("%j is not an instant", (text) => {
  expect(parseInstant(text)).toBe(null);
});

test("nanoseconds round up to microseconds", () => {
  expect(parseInstant("1970-01-01T00:00:00.000000001Z")).toBe(1);
});
