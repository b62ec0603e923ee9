import type { AssistantMessage, ModelRequest, ModelTool } from "../model.ts";
import type { AddressRules, Lesson } from "./address-rules.ts";
import { blamedKeyword, blamedTools, isAboutTools } from "./blamed-tools.ts";
import { learnOfHistory } from "./learn-of-history.ts";
import { isPlainSchema } from "./fit-schema.ts";
import { controlCharacters } from "./fit-request.ts";
import { toolDigest } from "./fit-tools.ts";
import type { Refusal } from "./refusal.ts";

/**
 * What a refusal teaches about an address: the smallest change of the request that answers what it says. Null when there is nothing
 * left to change. `rules` are those that the refused request was made with. Where it `isLate`, after many refusals of tools one by
 * one, all odd schemas are made plain at once. Pure.
 */
export function learn(
  refusal: Refusal,
  request: ModelRequest,
  rules: AddressRules,
  { isLate = false }: { readonly isLate?: boolean } = {},
): Lesson | null {
  const isOfTools = isAboutTools(refusal.text);
  const all = isOfTools && isLate ? plainTools(request, rules) : null;
  const named = isOfTools ? learnOfTools(refusal.text, request, rules) : null;
  return (
    all ??
    named ??
    learnOfHistory(refusal.text, request, rules) ??
    (refusal.isFinal ? guess(refusal, request, rules) : null)
  );
}

function learnOfTools(text: string, { tools }: ModelRequest, rules: AddressRules): Lesson | null {
  const open = offered(tools, rules);
  if (open.length === 0) return null;
  const limits = limitsIn(text);
  const longest = Math.max(...open.map(({ description }) => description.length));
  const maxLength = limits.find((limit) => limit >= 16 && limit < Math.min(longest, rules.maxDescription));
  if (/description/iu.test(text) && maxLength !== undefined)
    return { kind: "max-description", max: maxLength };
  const isAboutCount =
    /too many|array too long|number of (?:tools|functions|items)|at most \d+ (?:tools|functions)/iu;
  const maxTools = limits.find((limit) => limit > 0 && limit < open.length) ?? usualMaxTools;
  if (isAboutCount.test(text) && open.length > maxTools) return { kind: "max-tools", max: maxTools };
  const keyword = blamedKeyword(
    text,
    open.filter((tool) => !isPlain(tool, rules)),
    rules.omittedKeywords,
  );
  if (keyword !== null) return { kind: "keyword", keyword };
  const blamed = blamedTools(text, open);
  if (blamed.length === 0) return null;
  const schemas = blamed.filter((tool) => !isPlain(tool, rules) && hasParameters(tool));
  return schemas.length > 0
    ? { kind: "plain-tools", tools: schemas.map(toLessonTool) }
    : { kind: "omitted-tools", tools: blamed.map(toLessonTool) };
}

/** The numbers that a refusal gives as limits. Codes such as `string_above_max_length` come first and may stand before any number. */
function limitsIn(text: string): number[] {
  const limits = text.matchAll(
    /(?:length|most|more than|max\w*|items is|limit)[^\d]{0,20}(?<![[.]|tools?)(\d+)/giu,
  );
  return [...limits].map(([, limit]) => Number(limit));
}

/**
 * The last resort where a refusal names nothing that is known: what is odd is made plain, from what costs the model least to what
 * costs it most. Each step is taken once.
 */
function guess(refusal: Refusal, request: ModelRequest, rules: AddressRules): Lesson | null {
  const odd = offered(request.tools, rules).filter(({ parameters }) => !isPlainSchema(parameters));
  if (refusal.isAboutImages) return null;
  if (offered(request.tools, rules).length > usualMaxTools) return { kind: "max-tools", max: usualMaxTools };
  const plain = plainTools(request, rules);
  if (plain !== null) return plain;
  const answers = request.messages.filter((message) => message.role === "assistant");
  if (answers.slice(rules.unsealedAnswers).some(isSealed))
    return { kind: "unsealed", answers: answers.length };
  const upTo = answers.findLast(({ toolCalls }) => toolCalls.length > 0)?.toolCalls.at(-1)!.id;
  if (upTo !== undefined && upTo !== rules.wordsUpTo) return { kind: "words", upTo };
  if (!rules.isPlainText && hasOddText(request)) return { kind: "plain-text" };
  return odd.length > 0 ? { kind: "omitted-tools", tools: odd.map(toLessonTool) } : null;
}

/** Puts every odd schema into words; null where none is left. */
function plainTools({ tools }: ModelRequest, rules: AddressRules): Lesson | null {
  const open = offered(tools, rules).filter(
    (tool) => !isPlain(tool, rules) && !isPlainSchema(tool.parameters),
  );
  return open.length === 0 ? null : { kind: "plain-tools", tools: open.map(toLessonTool) };
}

function hasParameters({ parameters }: ModelTool): boolean {
  const { properties, ...rest } = parameters as { readonly properties?: object };
  return Object.keys(properties ?? {}).length > 0 || Object.keys(rest).some((key) => key !== "type");
}

function isSealed({ thinkingBlocks, replay }: AssistantMessage): boolean {
  return thinkingBlocks.length > 0 || replay !== undefined;
}

/** Where a provider has a limit, it is hardly ever another one. */
const usualMaxTools = 128;

function hasOddText({ messages }: ModelRequest): boolean {
  return messages.some(({ content }) =>
    content.some((part) => "image_urls" in part || part.text.search(controlCharacters) !== -1),
  );
}

function offered(
  tools: readonly ModelTool[],
  { omittedTools, maxTools }: AddressRules,
): readonly ModelTool[] {
  const open =
    omittedTools.length === 0 ? tools : tools.filter((tool) => !omittedTools.includes(toolDigest(tool)));
  return open.slice(0, maxTools);
}

function isPlain(tool: ModelTool, { plainTools }: AddressRules): boolean {
  return plainTools.length > 0 && plainTools.includes(toolDigest(tool));
}

function toLessonTool(tool: ModelTool): { readonly name: string; readonly digest: string } {
  return { name: tool.name, digest: toolDigest(tool) };
}
