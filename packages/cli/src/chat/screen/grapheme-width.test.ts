import stringWidth from "string-width";
import { expect, test } from "vitest";
import { graphemeWidth } from "./grapheme-width.ts";

test("each code point has the width that string-width says", () => {
  const different: string[] = [];
  // Between them are the large scripts, whose letters are alike.
  for (let code = 0x20; code < 0x20000; code += code < 0x3200 || code >= 0x1f000 ? 1 : 61) {
    const text = String.fromCodePoint(code);
    if (graphemeWidth(text) !== stringWidth(text)) different.push(code.toString(16));
  }
  expect(different).toEqual([]);
});

test.each([
  "e\u0301",
  "\u05e9\u05b8",
  "\u0639\u064e",
  "が",
  "か\u3099",
  "각",
  "\u1100\u1161\u11a8",
  "👍🏽",
  "🇩🇪",
  "👩‍👩‍👧‍👦",
  "❤️",
  "❤",
  "1️⃣",
  "✅",
  "⚠️",
  "நி",
  "กำ",
  "\u263a\ufe0e",
])("%s", (text) => expect(graphemeWidth(text)).toBe(stringWidth(text)));
