import { useMemo } from "react";
import { parseAnsi, type StyledText } from "./parse-ansi.ts";

const colours = [
  "text-faint",
  "text-bad",
  "text-good",
  "text-warn",
  "text-accent",
  "text-[light-dark(#86308f,#d9a0e6)]",
  "text-[light-dark(#0b6a77,#6fcbd8)]",
  "text-ink",
] as const;

/** Terminal output with its ANSI colours. */
export function AnsiText({ text }: { readonly text: string }) {
  const parts = useMemo(() => parseAnsi(text), [text]);
  return parts.map((part, index) => (
    // The parts of one output keep their positions.
    // eslint-disable-next-line react/no-array-index-key
    <span key={index} className={classOf(part)}>
      {part.text}
    </span>
  ));
}

function classOf({ colour, isBold, isDim }: StyledText): string | undefined {
  if (colour === null && !isBold && !isDim) return undefined;
  return [
    colour === null ? "" : colours[colour % 8],
    isBold ? "font-semibold" : "",
    isDim ? "text-faint" : "",
  ].join(" ");
}
