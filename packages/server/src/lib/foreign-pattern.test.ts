import { describe, expect, test } from "vitest";
import { compilePattern, PatternRefused, PatternTooSlow } from "./foreign-pattern.ts";

const endless = `${String.raw`(\w*)`.repeat(150)}!`;

describe("an expression that somebody else wrote", () => {
  test.each([
    ["terminal|file_editor", "file_editor", true],
    ["file", "file_editor", false],
    ["a)|(b", "b", null],
    [String.raw`\u0066ile_.*`, "file_editor", true],
    ["(?<name>file)_editor", "file_editor", true],
    [String.raw`[a-z]+_\w{2,8}`, "file_editor", true],
  ])("%j is the whole of %s: %s", (source, text, expected) => {
    const ask = (): boolean => compilePattern(source, { anchor: "whole" }).test(text);
    if (expected === null) expect(ask).toThrow(PatternRefused);
    else expect(ask()).toBe(expected);
  });

  test("security 1, 3: one that would run for ever elsewhere is done in linear time", () => {
    const before = process.threadCpuUsage();
    expect(compilePattern(endless, { anchor: "whole" }).test("x".repeat(200))).toBe(false);
    expect(compilePattern("(a|aa)+(a|aa)+(a|aa)+b", { anchor: "start" }).test("a".repeat(200))).toBe(false);
    expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000);
  });

  test.each([
    ["(?=x)y", /Lookaheads/],
    ["(?<!x)y", /Lookaheads/],
    [String.raw`(a)\1`, /backreferences/],
    ["(", /no regular expression/],
    ["a".repeat(1_001), /1000 characters/],
    ["((a|b|c|d){9}){9}".repeat(58), /too large/],
  ])("%.30j is refused with the reason", (source, reason) => {
    expect(() => compilePattern(source, { anchor: "whole" })).toThrow(reason);
  });

  test("a single expression may have lookarounds; it has a time limit, and is not used again after a timeout", () => {
    const except = compilePattern("^(?!repomix)(.*)|^repomix.*pack_codebase.*$", {
      anchor: "start",
      allowsLookaround: true,
    });
    expect(["terminal", "repomix_pack_codebase", "repomix_grep"].map((name) => except.test(name))).toEqual([
      true,
      true,
      false,
    ]);
    const slow = compilePattern(`(?=x)${endless}`, { anchor: "start", allowsLookaround: true });
    expect(() => slow.test("x".repeat(30))).toThrow(PatternTooSlow);
    expect(() => slow.test("y")).toThrow(PatternTooSlow);
    expect(() => compilePattern("(?=x", { anchor: "start", allowsLookaround: true })).toThrow(PatternRefused);
  });
});
