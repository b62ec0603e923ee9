import { looks, type Pieces } from "./looks.ts";
import { watchNearness } from "../lib/near-screen.ts";

/**
 * Colours pieces of a text that is on the page until the function that it returns is called. Text and elements stay as they are:
 * nothing moves, a selection stays, and what is copied is the text. Browsers without such highlights show it plain.
 *
 * Only what is near the screen is coloured: Chromium goes through all ranges of a page, and paints their texts anew, in each frame
 * in which any style was found.
 */
export function paint(text: Text, pieces: Pieces): () => void {
  const { parentElement } = text;
  if (parentElement === null || !("highlights" in CSS)) return () => {};
  let remove: (() => void) | null = null;
  const leave = watchNearness(parentElement, (isNear) => {
    remove?.();
    remove = isNear ? addRanges(text, pieces) : null;
  });
  return () => {
    leave();
    remove?.();
  };
}

function addRanges(text: Text, pieces: Pieces): () => void {
  const painted: { readonly highlight: Highlight; readonly range: StaticRange }[] = [];
  for (let index = 0; index < pieces.length; index += 3) {
    const endOffset = Math.min(pieces[index + 1]!, text.length);
    const look = looks[pieces[index + 2]!];
    if (look === undefined || pieces[index]! >= endOffset) continue;
    const range = new StaticRange({
      startContainer: text,
      startOffset: pieces[index]!,
      endContainer: text,
      endOffset,
    });
    const highlight = highlightOf(`code-${look}`);
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
