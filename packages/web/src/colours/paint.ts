import { tokenTypes, type TokenRanges } from "./token-types.ts";
import { watchNearness } from "../lib/near-screen.ts";

/**
 * Colours ranges of a text that is on the page until the function that it returns is called. Text and elements stay as they are:
 * nothing moves, a selection stays, and what is copied is the text. Browsers without such highlights show it plain.
 *
 * Only what is near the screen is coloured: Chromium goes through all ranges of a page, and paints their texts anew, in each frame
 * in which any style was found.
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
