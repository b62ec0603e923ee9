import { useLayoutEffect, useRef } from "react";
import type { Pieces } from "./looks.ts";
import { paint } from "./paint.ts";

type ColouredLineProps = { readonly text: string; readonly pieces: Pieces | undefined };

/** One line of code; an empty one is as high as the others. */
export function ColouredLine({ text, pieces }: ColouredLineProps) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const node = place.current?.firstChild;
    return node instanceof Text && pieces !== undefined ? paint(node, pieces) : undefined;
  }, [text, pieces]);
  return (
    <span ref={place} className="pr-3 whitespace-pre">
      {text === "" ? " " : text}
    </span>
  );
}
