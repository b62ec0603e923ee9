import { expect, test } from "vitest";
import { parseExpiry } from "./parse-expiry.ts";

const nowMs = Date.UTC(2026, 0, 1);

test.each([
  ["12h", Date.UTC(2026, 0, 1, 12)],
  ["30d", Date.UTC(2026, 0, 31)],
  ["2027-01-31", Date.UTC(2027, 0, 31)],
  ["2027-01-31T10:00:00+02:00", Date.UTC(2027, 0, 31, 8)],
])("%s is an end", (text, atMs) => {
  expect(parseExpiry(text, nowMs)).toBe(atMs);
});

test.each(["", "0d", "-1d", "30", "30 d", "2027-02-30", "2027-13-01", "2027-01-31T10:00", "2025-12-31"])(
  "%j is no end",
  (text) => {
    expect(() => parseExpiry(text, nowMs)).toThrow("It must be");
  },
);
