import { expect, test } from "vitest";
import { readTerms, toSnippet } from "./text-terms.ts";

const marked = (text: string, typed: string): string =>
  toSnippet(text, readTerms(typed))
    .map((part) => (part.isMatch ? `[${part.text}]` : part.text))
    .join("");

test("S11: words and phrases, each once, at most eight", () => {
  expect(readTerms('  Fix "the  Parser" fix ΣΑΣ')).toEqual(["fix", "the  parser", "σασ"]);
  expect(readTerms('open "and not closed')).toEqual(["open", "and not closed"]);
  expect(readTerms(' "" "  " ')).toEqual([]);
  expect(readTerms("1 2 3 4 5 6 7 8 9 10")).toHaveLength(8);
});

test("S11: a snippet is one line around the first match, with every match in it marked", () => {
  expect(marked("Fix the\n  parser", "PARSER fix")).toBe("[Fix] the [parser]");
  expect(marked("the İstanbul of İzmir", "zmir")).toBe("the İstanbul of İ[zmir]");
  expect(marked("aaab", '"aaa" aa')).toBe("[aaa]b");
  const long = `${"before ".repeat(50)}needle${" after".repeat(100)}`;
  expect(marked(long, "needle")).toMatch(/^…(before ){8}\[needle\]( after)+.*…$/);
  expect(toSnippet(long, ["needle"]).reduce((total, { text }) => total + text.length, 0)).toBeLessThan(250);
  expect(marked("nothing of it", "else")).toBe("nothing of it");
});

test("S11: the colours of a terminal are in no snippet, unless they are what is looked for", () => {
  const output =
    "\u001B[31m✖ adds up\u001B[39m \u001B]8;;http://a\u0007total\u001B]8;;\u0007 \u001B[90m(1 ms)\u001B[39m";
  expect(marked(output, "total")).toBe("✖ adds up [total] (1 ms)");
  expect(marked(output, "31m")).toContain("[31m]");
  expect(marked("\u001B[31mup\u001B[39mper", "upper")).toBe("[upper]");
});
