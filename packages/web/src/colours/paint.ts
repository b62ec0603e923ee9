import { tokenTypes, type TokenRanges } from "./token-types.ts";
import { watchNearness } from "../lib/near-screen.ts";

/**
 * Highlights ranges of a text node with the CSS Custom Highlight API until the returned function is called. Text and
 * elements stay unchanged: no layout shift, selections stay, copies are plain text. Browsers without the API show
 * plain text. Only text near the screen is highlighted: Chromium walks all ranges of a page and repaints their texts
 * in each frame with a style change.
 */
export function paint(text: Text, ranges: TokenRanges): () => void {
  const { parentElement } = text;
  if (parentElement === null || !("highlights" in CSS)) return () => {};
  let remove: (() => void) | null = null;
  const leave = watchNearness(parentElement, (isNear) => {
    remove?.();
    remove = isNear ? addRanges(text, ranges) : null;
  });
  return () => {
    leave();
    remove?.();
  };
}

function addRanges(text: Text, ranges: TokenRanges): () => void {
  const painted: { readonly highlight: Highlight; readonly range: StaticRange }[] = [];
  for (let index = 0; index < ranges.length; index += 3) {
    const endOffset = Math.min(ranges[index + 1]!, text.length);
    const tokenType = tokenTypes[ranges[index + 2]!];
    if (tokenType === undefined || ranges[index]! >= endOffset) continue;
    const range = new StaticRange({
      startContainer: text,
      startOffset: ranges[index]!,
      endContainer: text,
      endOffset,
    });
    const highlight = highlightOf(`code-${tokenType}`);
    highlight.add(range);
    painted.push({ highlight, range });
  }
  return () => {
    for (const { highlight, range } of painted) highlight.delete(range);
  };
}

function highlightOf(name: string): Highlight {
  const known = CSS.highlights.get(name);
  if (known !== undefined) return known;
  const made = new Highlight();
  CSS.highlights.set(name, made);
  return made;
}
