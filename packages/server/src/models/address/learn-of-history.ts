import type { ModelRequest } from "../model.ts";
import { strictIds, type AddressRules, type IdForm, type Lesson } from "./address-rules.ts";
import { isObject } from "../../lib/json-object.ts";

/** What a refusal that names a part of the history teaches; null when it names none, or one that was changed already. Pure. */
export function learnOfHistory(text: string, request: ModelRequest, rules: AddressRules): Lesson | null {
  return (
    learnTurns(text, rules) ??
    learnIds(text, request, rules) ??
    learnReasoning(text, request, rules) ??
    learnFields(text, request, rules)
  );
}

function learnTurns(text: string, { alternates }: AddressRules): Lesson | null {
  const isAboutTurns =
    /roles? must alternate|unexpected role|message order|alternate between|conversation roles|(?:2|two) or more assistant messages|consecutive (?:user|assistant)|first message must|must (?:start|begin) with (?:a )?user/iu;
  return !alternates && isAboutTurns.test(text) ? { kind: "alternate" } : null;
}

/** A refusal of how an id is written; not one of ids that have no partner. */
function learnIds(text: string, { messages }: ModelRequest, { ids }: AddressRules): Lesson | null {
  const hasCalls = messages.some((message) => message.role === "assistant" && message.toolCalls.length > 0);
  const isAboutIds =
    /(?:tool|call|function)[\w. ]{0,20}[ _.]?ids?\b|tool_?(?:call|use)_?id|callId|tool_calls?["'\s.[\],\d]+id\b/iu.test(
      text,
    );
  const isAboutPartners =
    /did not have|without|followed by|no corresponding|not found|unexpected|matching|preceding|previous/iu.test(
      text,
    );
  if (!hasCalls || !isAboutIds || isAboutPartners) return null;
  const form = formIn(text) ?? strictIds;
  const isKnown = form.isWord === ids.isWord && form.min === ids.min && form.max === ids.max;
  const lesson = isKnown ? strictIds : form;
  return isStrict(ids) ? null : { kind: "ids", form: lesson };
}

function isStrict({ isWord, min, max }: IdForm): boolean {
  return isWord === strictIds.isWord && min === strictIds.min && max === strictIds.max;
}

/** The form that a refusal spells out, as a pattern or in words. */
function formIn(text: string): IdForm | null {
  const pattern = /\[([^\]]+)\](?:\{(\d+)(?:,(\d*))?\}|[+*])/u.exec(text);
  const exact = /length(?: of| must be| should be|:)? (\d+)|exactly (\d+) char/iu.exec(text);
  const atMost = /(?:max(?:imum)?(?: length)?|at most|no longer than|up to)(?: of)?[ :]+(\d+)/iu.exec(text);
  const isWord = pattern === null ? !/alphanumeric|a-z, A-Z, 0-9/iu.test(text) : /_|\\w/u.test(pattern[1]!);
  if (pattern?.[2] !== undefined) {
    const min = Number(pattern[2]);
    return bounded(isWord, min, pattern[3] === undefined ? min : Number(pattern[3] || 40));
  }
  if (atMost !== null) return bounded(isWord, 1, Number(atMost[1]));
  if (exact !== null) return bounded(isWord, Number(exact[1] ?? exact[2]), Number(exact[1] ?? exact[2]));
  return pattern === null ? null : bounded(isWord, 1, 40);
}

/** Shorter ids than these would soon be the same for two calls. */
const leastLength = 6;

function bounded(isWord: boolean, min: number, max: number): IdForm | null {
  return max >= leastLength && max >= min && min <= 64
    ? { isWord, min, max: Math.min(max, Math.max(40, min)) }
    : null;
}

const isUnwanted =
  /unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra (?:inputs?|fields?)|additional propert|extraneous|no such|(?:must|should|can)(?: ?not|'t) be (?:included|present|sent|set|in)|remove/iu;

function learnReasoning(
  text: string,
  { messages }: ModelRequest,
  { reasoning, needsSignatures }: AddressRules,
): Lesson | null {
  if (!messages.some(({ role }) => role === "assistant")) return null;
  if (/thought_?\s?signature/iu.test(text) && !needsSignatures) return { kind: "signatures" };
  if (!/reasoning_content/iu.test(text)) return null;
  if (isUnwanted.test(text))
    return reasoning === "omitted" ? null : { kind: "reasoning", reasoning: "omitted" };
  return reasoning === "required" ? null : { kind: "reasoning", reasoning: "required" };
}

/** A field that another answer of this address brought, and that it refuses to get back. */
function learnFields(
  text: string,
  { messages }: ModelRequest,
  { omittedFields, needsSignatures }: AddressRules,
): Lesson | null {
  const names = new Set(needsSignatures ? ["extra_content"] : []);
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const item of message.replay?.items ?? [])
      if (isObject(item) && isObject(item["fields"]))
        for (const name of Object.keys(item["fields"])) names.add(name);
  }
  const name = [...names].find(
    (one) =>
      !omittedFields.includes(one) &&
      new RegExp(`(?<![\\w-])${one.replaceAll(/\W/gu, ".")}(?![\\w-])`, "u").test(text),
  );
  return name === undefined ? null : { kind: "field", name };
}
