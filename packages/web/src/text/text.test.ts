import { expect, test } from "vitest";
import { parseAnsi } from "./parse-ansi.ts";
import { safeAddress } from "@convoke/client/markdown";
import { visibleText } from "./visible-text.ts";
import { withoutColours } from "./without-colours.ts";

test("colours of a terminal are read, and what moves the cursor is left out", () => {
  const output =
    "\u001B[1;32mok\u001B[0m plain\u001B[2K \u001B[38;5;9mred\u001B[39m\u0007\u001B]0;title\u0007!";
  expect(parseAnsi(output)).toEqual([
    { text: "ok", colour: 2, isBold: true, isDim: false },
    { text: " plain", colour: null, isBold: false, isDim: false },
    { text: " ", colour: null, isBold: false, isDim: false },
    { text: "red", colour: 9, isBold: false, isDim: false },
    { text: "!", colour: null, isBold: false, isDim: false },
  ]);
  expect(withoutColours(output)).toBe("ok plain red!");
});

test("J29: characters that turn or hide text are shown as their numbers", () => {
  expect(visibleText("rm \u202Etxt.exe")).toBe("rm ⟨U+202E⟩txt.exe");
  expect(visibleText("Grüße 你好")).toBe("Grüße 你好");
});

test.each([
  ["https://example.org/a?b=1", "https://example.org/a?b=1"],
  ["mailto:somebody@example.org", "mailto:somebody@example.org"],
  ["javascript:alert(1)", null],
  ["JaVaScRiPt:alert(1)", null],
  ["\u0001javascript:alert(1)", null],
  ["java\nscript:alert(1)", null],
  ["data:text/html,<script>alert(1)</script>", null],
  ["vbscript:x", null],
  ["//evil.example/x", null],
  ["/etc/passwd", null],
  ["src/main.ts", null],
  ["blob:https://example.org/1", null],
])("J29: the address %j becomes %j", (address, safe) => {
  expect(safeAddress(address)).toBe(safe);
});
