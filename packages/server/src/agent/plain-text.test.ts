import { expect, test } from "vitest";
import { plainText } from "./plain-text.ts";

test.each([
  ["plain", "a\tb\r\nc\fd\u0085é😀", "a\tb\r\nc\fd\u0085é😀"],
  ["colours", "\u001b[1;31mred\u001b[0m \u001b[38:2::1:2:3mx\u001b[m", "red x"],
  ["colours of eight bits", "\u009b31mred\u009b0m", "red"],
  ["cursor moves", "a\u001b[2K\u001b[1Gb\u001b[?25l\u001b[6n", "ab"],
  ["a title and a link", "\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b\u001b]8;;\u001b\\", "ab"],
  ["device strings", "\u001bPq#0\u001b\\a\u0090x\u009cb\u009d0;t\u009cc", "abc"],
  ["character sets and keypads", "\u001b(Ba\u001b=\u001b7b\u001bc", "ab"],
  ["a title that nothing ends", "\u001b]0;oops\nnext", "0;oops\nnext"],
  ["a sequence that is cut", "a\u001b[3", "a"],
  ["other control characters", "a\u0000b\u0007c\bd\u007fe\u0080f\u001b", "abcdef"],
  ["brackets of text", "[31m and a[0]", "[31m and a[0]"],
])("K18: %s", (_, text, plain) => expect(plainText(text)).toBe(plain));

test("K18: long runs of the beginning of a sequence take linear time", () => {
  const before = process.threadCpuUsage();
  for (const begin of ["\u001b]", "\u001b[", "\u001b[0;", "\u001b", "\u009d", "\u001bP "])
    plainText(begin.repeat(100_000));
  expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
});
