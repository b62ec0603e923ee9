import { use, useEffect, useLayoutEffect, useState, type RefObject } from "react";
import { ColourContext } from "./colour-context.ts";
import type { TokenRanges } from "./token-types.ts";
import { paint } from "./paint.ts";

/** A text that still grows gets new colours when it was still for so long. */
const stillMs = 200;

type TextColoursProps = {
  /** Holds the text and nothing else. */
  readonly place: RefObject<HTMLElement | null>;
  readonly text: string;
  /** As a code block or the ending of a file names it. */
  readonly language: string;
};

/** Colours a text that is on the page already; draws nothing itself. */
export default function TextColours({ place, text, language }: TextColoursProps) {
  const ranges = useTokenRanges(text, language);
  useLayoutEffect(() => {
    const node = place.current?.firstChild;
    return node instanceof Text && ranges !== null ? paint(node, ranges) : undefined;
  }, [place, ranges]);
  return null;
}

/** The colours of a text; while it grows those of its beginning. Null for none, and until they are there. */
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
        // It stays plain, and can be read all the same.
        console.warn("Colours could not be loaded.", error);
      }
    };
    const timer = isGrowing ? setTimeout(() => void find(), stillMs) : (void find(), undefined);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
    // Whether it grows is asked when the text changes.
    // eslint-disable-next-line react/exhaustive-deps
  }, [ask, text, language]);
  return known !== null && text.startsWith(known.text) ? known.ranges : null;
}
