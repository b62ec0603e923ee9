import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { tokenTypes } from "./token-types.ts";

const css = readFileSync(path.join(import.meta.dirname, "../app.css"), "utf8");
/** Backgrounds of code. */
const grounds = ["canvas", "raised", "sunken", "good-wash", "bad-wash", "accent-wash"];

// axe does not check the colours of CSS highlights.
test.each(tokenTypes)(
  "U18: code that is a %s can be read in both themes, wherever it stands",
  (tokenType) => {
    const own = new RegExp(
      `::highlight\\(code-${tokenType}\\) \\{\\s*color: light-dark\\((#\\w+), (#\\w+)\\)`,
    ).exec(css);
    expect(own).not.toBeNull();
    for (const ground of grounds) {
      const pair = new RegExp(`--color-${ground}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(css)!;
      for (const theme of [1, 2])
        expect(contrast(own![theme]!, pair[theme]!), `${ground} ${theme}`).toBeGreaterThanOrEqual(4.5);
    }
  },
);

/** Source: WCAG 2.2, contrast ratio. */
function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
