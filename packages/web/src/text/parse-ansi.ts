import { escapeSequence, withoutControls } from "./without-colours.ts";

/** Terminal text in one style. `colour` is an index of the 16 colours, or null for the default. */
export type StyledText = {
  readonly text: string;
  readonly colour: number | null;
  readonly isBold: boolean;
  readonly isDim: boolean;
};

const usual = { colour: null, isBold: false, isDim: false } as const;

/**
 * Parses SGR colours. Other escape sequences and control characters are dropped: nothing here moves or hides text.
 */
export function parseAnsi(output: string): readonly StyledText[] {
  const parts: StyledText[] = [];
  let style: Omit<StyledText, "text"> = usual;
  let from = 0;
  const take = (to: number): void => {
    const text = withoutControls(output.slice(from, to));
    if (text !== "") parts.push({ ...style, text });
  };
  for (const match of output.matchAll(escapeSequence)) {
    take(match.index);
    from = match.index + match[0].length;
    if (match[2] === "m") style = styled(style, match[1] ?? "");
  }
  take(output.length);
  return parts;
}

function styled(style: Omit<StyledText, "text">, codes: string): Omit<StyledText, "text"> {
  let next = style;
  const numbers = codes === "" ? [0] : codes.split(";").map(Number);
  for (let index = 0; index < numbers.length; index += 1) {
    const code = numbers[index]!;
    if (code === 0) next = usual;
    else if (code === 1) next = { ...next, isBold: true };
    else if (code === 2) next = { ...next, isDim: true };
    else if (code === 22) next = { ...next, isBold: false, isDim: false };
    else if (code >= 30 && code <= 37) next = { ...next, colour: code - 30 };
    else if (code >= 90 && code <= 97) next = { ...next, colour: code - 82 };
    else if (code === 39) next = { ...next, colour: null };
    else if (code === 38 || code === 48) {
      // 256 colours and true colours: the first sixteen are known, others stay as they are.
      const isIndexed = numbers[index + 1] === 5;
      const colour = numbers[index + 2] ?? 16;
      if (code === 38 && isIndexed && colour < 16) next = { ...next, colour };
      index += isIndexed ? 2 : 4;
    }
  }
  return next;
}
