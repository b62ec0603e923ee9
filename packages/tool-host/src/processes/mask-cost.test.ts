import { describe, expect, test } from "vitest";
import { hiddenMark, maskText, SecretMask } from "./mask.ts";

describe("hardening 2: no secret and no text makes masking slow", () => {
  const a64k = `${"a".repeat(65_000)}b`;
  const lines = Array.from({ length: 4_000 }, (_, at) => `aaaaaaaa${at.toString(36)}`).join("\n");
  const nested = Array.from({ length: 600 }, (_, at) => "a".repeat(8 + at));
  const paths = Array.from({ length: 300 }, (_, at) => "/ab".repeat(2 + at));
  const heads = Array.from({ length: 2_000 }, (_, at) => `${"a".repeat(23)}${at.toString(36)}`);

  test.each([
    ["one long value that repeats itself", [a64k, "aaaaaaaa"], "a".repeat(100_000)],
    ["lines that begin alike", [lines], "a".repeat(100_000)],
    ["each a part of the next", nested, `${"a".repeat(300)} `.repeat(300)],
    ["paths, each the beginning of the next", paths, " /ab/ab/ab/ab/abc".repeat(6_000)],
    ["many that begin alike", heads, `${"a".repeat(23)}-`.repeat(4_000)],
  ])("hardening 2: %s", (_, given, text) => {
    const secrets = given.map((value) => ({ name: "S", value }));
    const before = process.threadCpuUsage();
    maskText(text, secrets, ["/ab/ab", "a".repeat(4_000)]);
    const mask = new SecretMask(secrets);
    for (let at = 0; at < text.length; at += 4) mask.push(text.slice(at, at + 4));
    mask.flush();
    // Each of these took between five seconds and minutes before.
    expect(process.threadCpuUsage(before).user).toBeLessThan(4_000_000);
  });
});

test("secrets of any size and number are masked", () => {
  const long = `begin-${"x".repeat(60_000)}-end`;
  const many = Array.from({ length: 3_000 }, (_, index) => ({
    name: `N${index}`,
    value: `secret-value-${index}`,
  }));
  const secrets = [{ name: "LONG", value: long }, ...many];
  const base64 = Buffer.from(long).toString("base64");
  expect(maskText(`a ${long} b ${base64} c secret-value-2999 d`, secrets)).toBe(
    `a ${hiddenMark} b ${hiddenMark} c ${hiddenMark} d`,
  );
});
