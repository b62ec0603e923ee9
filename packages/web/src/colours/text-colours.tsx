import { use, useEffect, useLayoutEffect, useState, type RefObject } from "react";
import { ColourContext } from "./colour-context.ts";
import type { TokenRanges } from "./token-types.ts";
import { paint } from "./paint.ts";

/** Milliseconds that a growing text must be unchanged before it is highlighted again. */
const stillMs = 200;

type TextColoursProps = {
  /** The element that contains only the text. */
  readonly place: RefObject<HTMLElement | null>;
  readonly text: string;
  /** The language, as a code block or a file extension names it. */
  readonly language: string;
};

/** Highlights a text that is on the page; renders nothing. */
export default function TextColours({ place, text, language }: TextColoursProps) {
  const ranges = useTokenRanges(text, language);
  useLayoutEffect(() => {
    const node = place.current?.firstChild;
    return node instanceof Text && ranges !== null ? paint(node, ranges) : undefined;
  }, [place, ranges]);
  return null;
}

/** The token ranges of a text; while it grows, those of its beginning. Null until they are known. */
function useTokenRanges(text: string, language: string): TokenRanges | null {
  const ask = use(ColourContext);
  const [known, setKnown] = useState<{ readonly text: string; readonly ranges: TokenRanges } | null>(null);
  const isGrowing = known !== null && known.text !== text;
  useEffect(() => {
    let isCurrent = true;
    const find = async (): Promise<void> => {
      try {
        const ranges = await ask(text, language);
        if (isCurrent) setKnown(ranges === null ? null : { text, ranges });
      } catch (error) {
        // Without colours the text is still readable.
        console.warn("Colours could not be loaded.", error);
      }
    };
    const timer = isGrowing ? setTimeout(() => void find(), stillMs) : (void find(), undefined);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
    // Evaluated only when the text changes.
    // eslint-disable-next-line react/exhaustive-deps
  }, [ask, text, language]);
  return known !== null && text.startsWith(known.text) ? known.ranges : null;
}
