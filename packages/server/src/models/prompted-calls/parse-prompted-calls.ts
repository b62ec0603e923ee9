import type { ModelTool } from "../model.ts";

export type PromptedCall = { readonly name: string; readonly arguments: string };

/** The beginnings of calls: our own form, and two that models bring along from their training. */
const openings = /<call\s+name\s*=|<tool_call>|<function\s*=/u;
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
  // A model that goes on writes down results it imagines; nothing behind them counts.
  const written = text.slice(first.index).split(/<result\s/u)[0]!;
  const calls = splitCalls(written).flatMap((part) => {
    const read = readCall(part, tools);
    const isHalf = isCut && written.endsWith(part) && !/<\/(?:call|tool_call|function)>[\s`]*$/u.test(part);
    return isHalf ? read.slice(0, 1).map(({ name }) => ({ name, arguments: part })) : read;
  });
  return { before, calls };
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
    const shown = (isOpen ? all.slice(0, tag) : all).trimEnd();
    this.#held = all.slice(shown.length);
    return shown;
  }

  end(): string {
    const held = this.#isInCalls ? "" : this.#held.trimEnd();
    this.#held = "";
    return held;
  }
}

/** Cuts where calls begin. What looks like an opening inside an argument belongs to it. */
function splitCalls(text: string): string[] {
  const calls: string[] = [];
  let rest = text;
  while (rest !== "") {
    const end = endOfCall(rest);
    calls.push(rest.slice(0, end));
    const next = openings.exec(rest.slice(end));
    rest = next === null ? "" : rest.slice(end + next.index);
  }
  return calls;
}

function endOfCall(text: string): number {
  const closing = text.startsWith("<call")
    ? "</call>"
    : text.startsWith("<tool_call>")
      ? "</tool_call>"
      : "</function>";
  const isLastTag = (at: number): boolean => {
    const behind = text.slice(at + closing.length).trimStart();
    return (
      behind === "" ||
      openings.exec(behind)?.index === 0 ||
      !/<\/(?:arg|parameter)>/u.test(behind.split(openings)[0]!)
    );
  };
  for (let at = text.indexOf(closing); at !== -1; at = text.indexOf(closing, at + 1)) {
    if (isLastTag(at)) return at + closing.length;
  }
  const next = openings.exec(text.slice(1));
  return next === null || /<(?:arg|parameter)/u.test(text.slice(0, next.index))
    ? text.length
    : next.index + 1;
}

function readCall(text: string, tools: readonly ModelTool[]): PromptedCall[] {
  if (text.startsWith("<tool_call>")) {
    const inner = text
      .slice("<tool_call>".length)
      .replace(/<\/tool_call>[\s\S]*$/u, "")
      .trim();
    // One maker's models put the function form inside.
    return openings.test(inner)
      ? readCall(inner.slice(openings.exec(inner)!.index), tools)
      : [readJsonCall(inner)];
  }
  const head = /^<(?:call\s+name|function)\s*=\s*["']?([\w.-]+)["']?[^>]*>/u.exec(text);
  if (head === null) return [{ name: "", arguments: text }];
  const name = head[1]!;
  const body = text.slice(head[0].length).replace(/<\/(?:call|function)>\s*(?:<\/tool_call>)?[\s`]*$/u, "");
  const isJson = body.trim().startsWith("{") && isObject(body);
  return [{ name, arguments: isJson ? body.trim() : readArguments(body, propertiesOf(name, tools)) }];
}

function readJsonCall(text: string): PromptedCall {
  try {
    const call = JSON.parse(text) as { name?: unknown; arguments?: unknown; parameters?: unknown };
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
    return JSON.parse(
      text.trim().replace(/^(True|False|None)$/u, (word) => (word === "None" ? "null" : word.toLowerCase())),
    );
  } catch {
    // Left to the tool's own check, which tells the model what is wrong.
    return text;
  }
}

function propertiesOf(name: string, tools: readonly ModelTool[]): Readonly<Record<string, unknown>> {
  const properties = tools.find((tool) => tool.name === name)?.parameters["properties"];
  return typeof properties === "object" && properties !== null ? (properties as Record<string, unknown>) : {};
}

function isObject(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Looks like JSON and is not: read as argument tags, or kept as it is.
    return false;
  }
}
