import { looks, type Pieces } from "./looks.ts";

/**
 * Colours pieces of a text that is on the page until the function that it returns is called. Text and elements stay as they are:
 * nothing moves, a selection stays, and what is copied is the text. Browsers without such highlights show it plain.
 */
export function paint(text: Text, pieces: Pieces): () => void {
  if (!("highlights" in CSS)) return () => {};
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
