import { createHash } from "node:crypto";
import type { Adjustment, ModelRequest } from "../model.ts";
import { addressKey, type Address } from "./address.ts";
import type { Lesson } from "./address-rules.ts";
import { eachSchema, hasLookaround } from "./fit-schema.ts";
import { toolDigest } from "./fit-tools.ts";

/** A lesson as a conversation's log reports it. `excerpt` quotes the provider; empty when the lesson came from another conversation. */
export function adjustmentFor(lesson: Lesson, address: Address, excerpt: string): Adjustment {
  const sentence = `The provider of ${address.model} at ${address.host} ${sentenceOf(lesson)}`;
  // The changed part of a history grows with it; report the change itself once.
  const isOfHistory = lesson.kind === "words" || lesson.kind === "unsealed";
  const thing = isOfHistory ? { kind: lesson.kind } : lesson;
  return {
    key: createHash("sha256")
      .update(JSON.stringify([addressKey(address), thing]))
      .digest("hex")
      .slice(0, 24),
    detail: excerpt === "" ? sentence : `${sentence} It said: ${excerpt}`,
  };
}

/** True where the model loses something by a lesson that was learnt in another conversation. */
export function isFelt(lesson: Lesson, { tools }: ModelRequest): boolean {
  switch (lesson.kind) {
    case "omitted-tools":
    case "plain-tools": {
      const digests = new Set(lesson.tools.map(({ digest }) => digest));
      return tools.some((tool) => digests.has(toolDigest(tool)));
    }
    case "keyword":
      return tools.some(({ parameters }) => hasKeyword(parameters, lesson.keyword));
    case "max-tools":
      return tools.length > lesson.max;
    default:
      return false;
  }
}

function hasKeyword(parameters: object, keyword: string): boolean {
  let isFound = false;
  eachSchema(parameters, (schema) => {
    if (keyword in schema || (keyword === "lookaround" && hasLookaround(schema["pattern"]))) isFound = true;
  });
  return isFound;
}

function sentenceOf(lesson: Lesson): string {
  switch (lesson.kind) {
    case "ids":
      return "wants ids of calls in another form: earlier calls are shown to it with such ids.";
    case "reasoning":
      return lesson.reasoning === "omitted"
        ? "refuses the reasoning of earlier answers: it is not sent back any more."
        : "wants the reasoning of earlier answers back: it is sent along from now on.";
    case "signatures":
      return "wants a signature with each call: calls of other models are sent with the stand-in for one.";
    case "alternate":
      return "wants messages of both sides in turn: consecutive messages of one side are merged.";
    case "field":
      return `refuses the field ${lesson.name} that it sent itself: it is not sent back any more.`;
    case "keyword":
      return lesson.keyword === "lookaround"
        ? "refuses patterns with lookaround in the descriptions of tools: they are left out."
        : `refuses ${lesson.keyword} in the descriptions of tools: it is left out.`;
    case "plain-tools":
      return `refuses how ${namesOf(lesson)} describe${lesson.tools.length === 1 ? "s" : ""} arguments: the model reads that in words instead.`;
    case "omitted-tools":
      return `refuses ${namesOf(lesson)}: the agent works without ${lesson.tools.length === 1 ? "it" : "them"}.`;
    case "max-tools":
      return `takes at most ${lesson.max} tools: the agent works without those beyond.`;
    case "max-description":
      return `takes at most ${lesson.max} characters of the description of a tool: longer ones are cut.`;
    case "unsealed":
      return "cannot read what earlier answers have sealed, for another model or account: it is not sent any more.";
    case "words":
      return "refuses earlier calls of this conversation as they are: the model reads them and their results as text.";
    case "plain-text":
      return "refuses an earlier item of this conversation: the model reads it without images and control characters.";
  }
}

function namesOf({ tools }: Extract<Lesson, { tools: unknown }>): string {
  const names = tools.slice(0, 10).map(({ name }) => `"${name}"`);
  const more = tools.length > names.length ? [`${tools.length - names.length} more`] : [];
  return `${tools.length === 1 ? "the tool" : "the tools"} ${[...names, ...more].join(", ")}`;
}
