import { useLayoutEffect, useRef } from "react";
import type { TokenRanges } from "./token-types.ts";
import { paint } from "./paint.ts";

type ColouredLineProps = { readonly text: string; readonly ranges: TokenRanges | undefined };

/** One line of code; empty lines keep their height. */
export function ColouredLine({ text, ranges }: ColouredLineProps) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const node = place.current?.firstChild;
    return node instanceof Text && ranges !== undefined ? paint(node, ranges) : undefined;
  }, [text, ranges]);
  return (
    <span ref={place} className="pr-3 whitespace-pre">
      {text === "" ? " " : text}
    </span>
  );
}
