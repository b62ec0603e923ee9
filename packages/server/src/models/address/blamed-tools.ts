import type { ModelTool } from "../model.ts";
import { fitName } from "./fit-names.ts";
import { isObject } from "../../lib/json-object.ts";
import { eachSchema, hasLookaround } from "./fit-schema.ts";

/** Keywords that a refusal can name; those that are words of every day count only where the refusal is about a schema. */
const keywords = [
  "pattern",
  "format",
  "default",
  "const",
  "examples",
  "$ref",
  "$defs",
  "definitions",
  "$schema",
  "$id",
  "$comment",
  "oneOf",
  "anyOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedProperties",
  "minItems",
  "maxItems",
  "uniqueItems",
  "contains",
  "prefixItems",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minProperties",
  "maxProperties",
  "contentEncoding",
  "contentMediaType",
  "nullable",
  "deprecated",
  "readOnly",
  "writeOnly",
  "title",
];
/** These count only in quotes. */
const everydayWords = new Set([
  "not",
  "if",
  "then",
  "else",
  "contains",
  "title",
  "default",
  "examples",
  "const",
]);

/** True where a refusal is about the tools that are offered, not about calls in the history. */
export function isAboutTools(text: string): boolean {
  if (
    /messages?\s*[.[]|"messages"|tool_calls?\b|tool_use|tool_result|function_call\b|contents?\s*\[/iu.test(
      text,
    )
  )
    return /\btools?\s*[.[]\s*\d|function_?declarations|input_?schema|\bschema\b/iu.test(text);
  return /\btools?\b|functions?\b|schema|parameters|propert|regex|look-?(?:around|ahead|behind)|keyword/iu.test(
    text,
  );
}

/** The first keyword that a refusal names and that one of the tools has; null where there is none. */
export function blamedKeyword(
  text: string,
  tools: readonly ModelTool[],
  omitted: readonly string[],
): string | null {
  const present = new Set<string>();
  for (const { parameters } of tools)
    eachSchema(parameters, (schema) => {
      for (const [key, value] of Object.entries(schema)) {
        present.add(key);
        if (key === "pattern" && hasLookaround(value)) present.add("lookaround");
      }
    });
  const isOpen = (keyword: string): boolean => present.has(keyword) && !omitted.includes(keyword);
  if (/look-?(?:around|ahead|behind)|\(\?<?[=!]/iu.test(text) && isOpen("lookaround")) return "lookaround";
  if (/regex|regular expression/iu.test(text) && isOpen("pattern")) return "pattern";
  return (
    keywords.find((keyword) => isOpen(keyword) && isNamed(text, keyword, everydayWords.has(keyword))) ?? null
  );
}

/** The tools that a refusal names: by position, by name, or by a property that only one tool has. */
export function blamedTools(text: string, tools: readonly ModelTool[]): readonly ModelTool[] {
  const position =
    /function_?declarations\s*[.[]\s*(\d+)/iu.exec(text) ?? /\btools?["']?\s*[.[,/]\s*(\d+)/iu.exec(text);
  const byPosition = position === null ? undefined : tools[Number(position[1])];
  if (byPosition !== undefined) return [byPosition];
  const byName = tools.filter(({ name }) => isNamed(text, name, true) || isNamed(text, fitName(name), true));
  if (byName.length > 0) return byName;
  const byWord = tools.filter(({ name }) =>
    new RegExp(`(?:tool|function)s?(?: name)?[ :=]+${escape(fitName(name))}(?![\\w-])`, "iu").test(text),
  );
  if (byWord.length > 0) return byWord;
  const byProperty = tools.filter(({ parameters }) => hasNamedProperty(text, parameters));
  return byProperty.length === 1 ? byProperty : [];
}

function hasNamedProperty(text: string, parameters: ModelTool["parameters"]): boolean {
  let isFound = false;
  eachSchema(parameters, ({ properties }) => {
    if (isObject(properties) && Object.keys(properties).some((name) => isNamed(text, name, true)))
      isFound = true;
  });
  return isFound;
}

function isNamed(text: string, word: string, isQuoted: boolean): boolean {
  const whole = `(?<![\\w$-])${escape(word)}(?![\\w-])`;
  return new RegExp(isQuoted ? `["'\`\\[(.]${escape(word)}["'\`\\]).]` : whole, "u").test(text);
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}
