import { eastAsianWidth } from "get-east-asian-width";
import stringWidth from "string-width";

const unseen = /^[\p{Mn}\p{Me}\p{Cc}\p{Default_Ignorable_Code_Point}]$/u;
/** A lone surrogate, a mark of a format, half a flag: `string-width` has a rule for each. */
const special = /^[\p{Cs}\p{Cf}\p{Regional_Indicator}]$/u;
const accented = /^[\p{L}\p{N}][\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f]+$/u;
const hangul = /^[\u1100-\u11ff\ua960-\ua97f\uac00-\ud7fb]/u;
const emojiSequence =
  /^(?:\p{Regional_Indicator}{2}|\p{Emoji_Modifier_Base}\p{Emoji_Modifier}|\p{Emoji_Presentation}\u200d.*|\p{Extended_Pictographic}\ufe0f.*)$/u;

/**
 * Columns of what takes columns together. It says what `string-width` says, whose pattern of all emoji takes 20 MB once it has met one: only
 * rare sequences are left to it.
 */
export function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  const isOne = grapheme.length === (code > 0xffff ? 2 : 1);
  if (isOne && unseen.test(grapheme)) return 0;
  if (isOne && !special.test(grapheme)) return eastAsianWidth(code);
  if (accented.test(grapheme) && !hangul.test(grapheme)) return eastAsianWidth(code);
  return emojiSequence.test(grapheme) ? 2 : stringWidth(grapheme);
}
