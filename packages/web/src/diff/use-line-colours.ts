import { use, useEffect, useState } from "react";
import type { DiffHunk, DiffLine } from "@convoke/client/diff-lines";
import { ColourContext } from "../colours/colour-context.ts";
import { endingOf } from "../colours/language-of.ts";
import { rangesOfLines } from "../colours/line-ranges.ts";
import type { FindTokenRanges, TokenRanges } from "../colours/token-types.ts";

type LineColours = ReadonlyMap<DiffLine, TokenRanges>;

const none: LineColours = new Map();
/** Maximum lines of a diff that are highlighted. */
const maxCharacters = 400_000;

/** The token ranges of the lines of a diff; none until they are known. Each side is tokenized as one text. */
export function useLineColours(hunks: readonly DiffHunk[], path: string): LineColours {
  const ask = use(ColourContext);
  const [colours, setColours] = useState(none);
  useEffect(() => {
    let isCurrent = true;
    coloursOf(hunks, (text) => ask(text, endingOf(path)))
      .then((found) => {
        if (isCurrent) setColours(found);
      })
      .catch((error: unknown) => {
        // Without colours the lines are still readable.
        console.warn("Colours could not be loaded.", error);
      });
    return () => {
      isCurrent = false;
    };
  }, [ask, hunks, path]);
  // Lines keep their colours while more of the same diff is shown.
  return colours;
}

async function coloursOf(
  hunks: readonly DiffHunk[],
  ask: (text: string) => ReturnType<FindTokenRanges>,
): Promise<LineColours> {
  const colours = new Map<DiffLine, TokenRanges>();
  let left = maxCharacters;
  await Promise.all(
    hunks.flatMap(({ lines }) =>
      (["removed", "added"] as const).map(async (side) => {
        const own = lines.filter(({ type }) => type === "same" || type === side);
        const texts = own.map(({ text }) => text);
        const text = texts.join("\n");
        left -= text.length;
        if (left < 0) return;
        const ranges = await ask(text);
        if (ranges === null) return;
        for (const [index, lineRanges] of rangesOfLines(texts, ranges).entries())
          if (own[index]!.type === side || side === "added") colours.set(own[index]!, lineRanges);
      }),
    ),
  );
  return colours;
}
