import { expect, test } from "vitest";
import { escapeGlob, widenGlob } from "./widen-glob.ts";

test.each([
  ["*.ts", "*.ts"],
  ["app/[id]/*.{ts,tsx}", String.raw`app/{[id],\[id\]}/*.{{ts,tsx},\{ts\,tsx\}}`],
  ["[user-id]", String.raw`\[user-id]`],
  ["[[...slug]]", String.raw`{[[...slug],\[\[...slug\]}]`],
  ["[!]a]", String.raw`{[!]a],\[!\]a\]}`],
  ["a[b", String.raw`a\[b`],
  ["a{b", String.raw`a\{b`],
  ["a}b", String.raw`a\}b`],
  ["{a,[,}]}", String.raw`{{a,{[,}],\[\,\}\]}},\{a\,\[\,\}\]\}}`],
  [String.raw`\[id\]`, String.raw`{\[,\\\[}id{\],\\\]}`],
  ["a\\", "a\\\\"],
  ["#x#", "[#]x#"],
  ["x\t", "x{\t}"],
  ["é*", "{é*,e\u0301*}"],
  ["!*.py", "!*.py"],
])("K11: %s becomes %s", (pattern, widened) => expect(widenGlob(pattern)).toBe(widened));

test("K11: an escaped name has nothing special left", () =>
  expect(escapeGlob("!a[b]{c,d}*?\\ ")).toBe(String.raw`\!a\[b\]\{c\,d\}\*\?\\` + "{ }"));
