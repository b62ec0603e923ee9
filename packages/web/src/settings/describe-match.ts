import type { RetentionFacts, RetentionStay } from "@convoke/protocol";
import type { MoreWords } from "../words/words.ts";

/** Why a rule fits a conversation, in the language of the page. */
export function describeFacts(
  { age_days: age, unused_days: unused, tag, size_mib: size }: RetentionFacts,
  { facts }: Pick<MoreWords["retention"], "facts">,
  language: string,
): string {
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  return [
    ...(age === undefined ? [] : [facts.age(number.format(age))]),
    ...(unused === undefined ? [] : [facts.unused(number.format(unused))]),
    ...(tag === undefined ? [] : [facts.tag(`${tag.key}: ${tag.value}`)]),
    ...(size === undefined ? [] : [facts.size(number.format(size))]),
  ].join(", ");
}

/** Why a conversation stays although a rule fits it, in the language of the page. */
export function describeStay(
  stay: RetentionStay,
  holdReason: string | null,
  { staysBecause }: Pick<MoreWords["retention"], "staysBecause">,
): string {
  return [staysBecause[stay], ...(holdReason ? [holdReason] : [])].join(": ");
}
