import type { Token } from "marked";
import { expect, test } from "vitest";
import { hostileTexts } from "../testing/hostile-texts.ts";
import { maxDepth, maxMarkdown, parseMarkdown } from "./parse-markdown.ts";

const known = Object.entries(hostileTexts);

test.each(known)("a text with %s is read, no deeper than it may be", (_, text) => {
  expect(depthOf(parseMarkdown(text))).toBeLessThanOrEqual(3 * maxDepth);
});

test("each hostile text, repeated to the longest that is read as Markdown, takes a bounded time", () => {
  for (const [name, text] of known) {
    const long = text.repeat(Math.max(1, Math.floor(maxMarkdown / text.length))).slice(0, maxMarkdown);
    const before = performance.now();
    parseMarkdown(long);
    // Without bounds the worst of them takes minutes; on a calm machine each takes less than a second.
    expect(performance.now() - before, name).toBeLessThan(20_000);
  }
});

test("what is nested too deeply is shown as it was written", () => {
  const [quote] = parseMarkdown(`${">".repeat(maxDepth + 5)}text`);
  expect(innermost(quote!)).toMatchObject({ type: "text", text: ">>>>>text" });
});

test("a text without anything odd is read as before", () => {
  expect(
    parseMarkdown("# A\n\n> b *c* [d](https://example.org)\n\n- e\n  - f").map(({ type }) => type),
  ).toEqual(["heading", "blockquote", "list"]);
});

test("a text beyond the limit is one plain block", () => {
  const text = "# a\n".repeat(maxMarkdown);
  expect(parseMarkdown(text)).toEqual([
    { type: "paragraph", raw: text, text, tokens: [{ type: "text", raw: text, text, escaped: false }] },
  ]);
});

function childrenOf(token: Token): readonly Token[] {
  if ("items" in token) return token.items as readonly Token[];
  return "tokens" in token ? (token.tokens ?? []) : [];
}

function depthOf(tokens: readonly Token[]): number {
  let depth = 0;
  let level = tokens;
  while (level.length > 0) {
    depth += 1;
    level = level.flatMap((token) => childrenOf(token));
  }
  return depth;
}

function innermost(token: Token): Token {
  const [first] = childrenOf(token);
  return first === undefined ? token : innermost(first);
}
