import { parseForeignJson } from "../../lib/parse-foreign-json.ts";
import { trimTrailing } from "../../lib/trim-trailing.ts";
import type { ModelTool } from "../model.ts";
import { maxCalls } from "../max-calls.ts";
import { objectOr } from "../../lib/json-object.ts";

export type PromptedCall = { readonly name: string; readonly arguments: string };

/** The beginnings of calls: our own form, and two that models bring along from their training. */
const openings = /<call\s+name\s*=|<tool_call>|<function\s*=/u;
const maxHeldBlanks = 10_000;
const longestOpening = "<tool_call>".length;

/**
 * Finds calls in what a model wrote. Forgiving: missing closing tags, code fences around calls, JSON instead of argument
 * tags and two widespread other forms are understood. A call that stays unreadable has its raw text as arguments, which
 * no parser accepts, so that the model is told; so has the last one of an answer that is cut at its limit (`isCut`) when its
 * closing tag is missing, because half of a command is another command.
 */
export function parseCalls(
  text: string,
  tools: readonly ModelTool[],
  { isCut = false }: { readonly isCut?: boolean } = {},
): { readonly before: string; readonly calls: readonly PromptedCall[] } {
  const first = openings.exec(text);
  if (first === null) return { before: text.trim(), calls: [] };
  const before = text
    .slice(0, first.index)
    .replace(/```\w*\s*$/u, "")
    .trim();
  // A model that continues writes invented results; nothing after them counts.
  const written = text.slice(first.index).split(/<result\s/u)[0]!;
  const calls = splitCalls(written).flatMap((part) => {
    const read = readCall(part, tools);
    const isHalf = isCut && written.endsWith(part) && !isClosed(part);
    return isHalf ? read.slice(0, 1).map(({ name }) => ({ name, arguments: part })) : read;
  });
  return { before, calls };
}

function isClosed(part: string): boolean {
  const rest = trimTrailing(part, blanksAndFences);
  return closings.some((closing) => rest.endsWith(closing));
}

/** Gives out text until calls begin, holding back what may be the beginning of one. */
export class CallTextSplitter {
  #held = "";
  #isInCalls = false;

  add(text: string): string {
    if (this.#isInCalls) return "";
    const all = this.#held + text;
    const opening = openings.exec(all);
    if (opening !== null) {
      this.#isInCalls = true;
      this.#held = "";
      return all.slice(0, opening.index).trimEnd();
    }
    const tag = all.lastIndexOf("<");
    const isOpen =
      tag !== -1 && all.length - tag <= longestOpening + 8 && /^<[a-z_]*\s*[a-z]*\s*$/u.test(all.slice(tag));
    const whole = isOpen ? all.slice(0, tag) : all;
    const trimmed = whole.trimEnd();
    // Blanks are held back for the end, but not so many that adding to them takes long.
    const shown = whole.length - trimmed.length > maxHeldBlanks ? whole : trimmed;
    this.#held = all.slice(shown.length);
    return shown;
  }

  end(): string {
    const held = this.#isInCalls ? "" : this.#held.trimEnd();
    this.#held = "";
    return held;
  }
}

/** Cuts where calls begin. What looks like an opening inside an argument belongs to it. The text is read once, however it is made. */
function splitCalls(text: string): string[] {
  const opening = new Places(text, openings);
  const argument = new Places(text, /<(?:arg|parameter)/u);
  const lastTags = new Map(closings.map((closing) => [closing, findLastTags(text, closing)]));
  const calls: string[] = [];
  for (let at = 0; at < text.length && calls.length <= maxCalls;) {
    const end = endOfCall(at);
    calls.push(text.slice(at, end));
    at = Math.min(opening.from(end), text.length);
  }
  return calls;

  function endOfCall(at: number): number {
    const closing = closings.find((tag) => text.startsWith(`<${tag.slice(2, -1)}`, at)) ?? "</function>";
    const tags = lastTags.get(closing)!;
    while (tags.length > 0 && tags.at(-1)! < at) tags.pop();
    const tag = tags.at(-1);
    if (tag !== undefined) return tag + closing.length;
    const next = opening.from(at + 1);
    return next === Infinity || argument.from(at) < next ? text.length : next;
  }
}

const closings = ["</call>", "</tool_call>", "</function>"] as const;

/** Where closing tags end a call instead of standing inside an argument; the first one last. */
function findLastTags(text: string, closing: string): number[] {
  const opening = new Places(text, openings);
  const argumentEnd = new Places(text, /<\/(?:arg|parameter)>/u);
  const word = new Places(text, /\S/u);
  const found: number[] = [];
  for (let at = text.indexOf(closing); at !== -1; at = text.indexOf(closing, at + 1)) {
    const behind = word.from(at + closing.length);
    const next = behind === Infinity ? Infinity : opening.from(behind);
    const isInside = behind !== Infinity && next !== behind && argumentEnd.from(behind) < next;
    if (!isInside) found.push(at);
  }
  return found.toReversed();
}

/** Where an expression matches next, for places that only grow: no part of the text is searched twice. */
class Places {
  readonly #text: string;
  readonly #expression: RegExp;
  #found = -1;

  constructor(text: string, expression: RegExp) {
    this.#text = text;
    this.#expression = new RegExp(expression.source, "gu");
  }

  from(at: number): number {
    if (this.#found < at) {
      this.#expression.lastIndex = at;
      this.#found = this.#expression.exec(this.#text)?.index ?? Infinity;
    }
    return this.#found;
  }
}

function readCall(text: string, tools: readonly ModelTool[]): PromptedCall[] {
  if (!text.startsWith("<tool_call>")) return [readTagCall(text, tools)];
  const end = text.indexOf("</tool_call>");
  const inner = text.slice(0, end === -1 ? text.length : end);
  // One maker's models put the function form inside.
  const tag = tagOpening.exec(inner);
  if (tag !== null) return [readTagCall(inner.slice(tag.index), tools)];
  return [readJsonCall(inner.slice(inner.lastIndexOf("<tool_call>") + "<tool_call>".length).trim())];
}

const tagOpening = /<call\s+name\s*=|<function\s*=/u;
const longestName = 200;

function readTagCall(text: string, tools: readonly ModelTool[]): PromptedCall {
  const head = /^<(?:call\s+name|function)\s*=\s*["']?([\w.-]{1,201})/u.exec(text);
  const end = head === null ? -1 : text.indexOf(">", head[0].length);
  const name = head?.[1] ?? "";
  if (end === -1 || name.length > longestName) return { name: "", arguments: text };
  const body = withoutClosing(text.slice(end + 1));
  const isJson = body.trim().startsWith("{") && isObject(body);
  return { name, arguments: isJson ? body.trim() : readArguments(body, propertiesOf(name, tools)) };
}

/** Without the tag that ends the call, and what models put around it. */
function withoutClosing(body: string): string {
  const fenceless = trimTrailing(body, blanksAndFences);
  for (const outer of ["", "</tool_call>"]) {
    if (!fenceless.endsWith(outer)) continue;
    const rest = fenceless.slice(0, fenceless.length - outer.length).trimEnd();
    for (const closing of ["</call>", "</function>"])
      if (rest.endsWith(closing)) return rest.slice(0, -closing.length);
  }
  return body;
}

const blanksAndFences = " \t\r\n\f\v`";

function readJsonCall(text: string): PromptedCall {
  try {
    const call = parseForeignJson(text) as { name?: unknown; arguments?: unknown; parameters?: unknown };
    const given = call.arguments ?? call.parameters ?? {};
    return {
      name: typeof call.name === "string" ? call.name : "",
      arguments: typeof given === "string" ? given : JSON.stringify(given),
    };
  } catch {
    // Not readable: the text itself tells the model what it wrote.
    return { name: /"name"\s*:\s*"([\w.-]+)"/u.exec(text)?.[1] ?? "", arguments: text };
  }
}

/** An argument ends where another one, or the call, does: values may hold closing tags of their own. */
const argument =
  /<(?:arg\s+name|parameter)\s*=\s*["']?([\w.-]+)["']?\s*>([\s\S]*?)(?:<\/(?:arg|parameter)>(?=\s*(?:<(?:arg\s+name|parameter)\s*=|$))|(?=<(?:arg\s+name|parameter)\s*=)|$)/gu;

function readArguments(body: string, properties: Readonly<Record<string, unknown>>): string {
  const values: Record<string, unknown> = {};
  let isAny = false;
  for (const [, name, raw] of body.trimEnd().matchAll(argument)) {
    isAny = true;
    values[name!] = toValue(raw!.replace(/^\r?\n/u, "").replace(/\r?\n[ \t]*$/u, ""), properties[name!]);
  }
  return isAny || body.trim() === "" ? JSON.stringify(values) : body;
}

/** Text unless the schema wants something else and the text is that. */
function toValue(text: string, schema: unknown): unknown {
  const { type, anyOf } = (schema ?? {}) as { type?: unknown; anyOf?: { type?: unknown }[] };
  const types = [type, ...(anyOf ?? []).map((one) => one.type)].flat();
  if (types.includes("string") && !(types.includes("null") && text.trim() === "null")) return text;
  if (types.every((one) => one === undefined)) return text;
  try {
    return parseForeignJson(
      text.trim().replace(/^(True|False|None)$/u, (word) => (word === "None" ? "null" : word.toLowerCase())),
    );
  } catch {
    // Left to the tool's own check, which tells the model what is wrong.
    return text;
  }
}

function propertiesOf(name: string, tools: readonly ModelTool[]): Readonly<Record<string, unknown>> {
  return objectOr(tools.find((tool) => tool.name === name)?.parameters["properties"]);
}

function isObject(text: string): boolean {
  try {
    parseForeignJson(text);
    return true;
  } catch {
    // Looks like JSON and is not: read as argument tags, or kept as it is.
    return false;
  }
}
