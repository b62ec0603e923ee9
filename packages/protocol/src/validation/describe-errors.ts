import type { ErrorObject } from "ajv";
import type { ValidationError } from "../requests/replies.ts";

/** The first element of every `loc`: where the value came from. */
export type Location = readonly (string | number)[];

const maxErrors = 50;

/** Converts the validator's errors to the contract's: location, advice and code. Values are never shown. */
export function describeErrors(
  errors: readonly ErrorObject[],
  value: unknown,
  prefix: Location,
): ValidationError[] {
  const failedChoices = errors.filter(({ keyword }) => keyword === "anyOf").slice(0, maxErrors);
  const meant = errors.filter((error) => error.keyword !== "if" && !isPartOf(error, failedChoices));
  return meant.slice(0, maxErrors).map((error) => {
    const { field, msg, type } = describe(error);
    const path = locate(error.instancePath, value);
    return { loc: [...prefix, ...path, ...(field === undefined ? [] : [field])], msg, type };
  });
}

type Description = { field?: string; msg: string; type: string };

function describe(error: ErrorObject): Description {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "required":
      return {
        field: String(params["missingProperty"]),
        msg: "Add this field: it is required.",
        type: "missing",
      };
    case "additionalProperties":
      return {
        field: String(params["additionalProperty"]),
        msg: "Remove this field: it is not known here.",
        type: "extra_forbidden",
      };
    case "choice":
      return describeTag(params as { tag: string; known: string[]; isMissing: boolean });
    case "type":
      return { msg: `Send ${typeNames(params["type"])}.`, type: `${firstType(params["type"])}_type` };
    case "enum":
      return { msg: `Use one of: ${(params["allowedValues"] as unknown[]).join(", ")}.`, type: "enum" };
    case "const":
      return { msg: `This must be ${JSON.stringify(params["allowedValue"])}.`, type: "literal_error" };
    case "format":
      return describeFormat(String(params["format"]));
    default:
      return describeBound(error.keyword, Number(params["limit"]));
  }
}

function describeTag({
  tag,
  known,
  isMissing,
}: {
  tag: string;
  known: string[];
  isMissing: boolean;
}): Description {
  const names = `Use one of: ${known.join(", ")}.`;
  if (isMissing) return { field: tag, msg: `Add ${tag}. ${names}`, type: "union_tag_not_found" };
  return { field: tag, msg: `This ${tag} is not known. ${names}`, type: "union_tag_invalid" };
}

function describeFormat(format: string): Description {
  if (format === "uuid") {
    return { msg: "Send a UUID: 32 hexadecimal digits, with or without dashes.", type: "uuid_parsing" };
  }
  if (format === "date-time") {
    return { msg: "Send a date and time such as 2026-01-31T12:00:00Z.", type: "datetime_parsing" };
  }
  return { msg: `Send text in the form ${format}.`, type: "value_error" };
}

function describeBound(keyword: string, limit: number): Description {
  switch (keyword) {
    case "minimum":
      return { msg: `Send a number that is at least ${limit}.`, type: "greater_than_equal" };
    case "exclusiveMinimum":
      return { msg: `Send a number greater than ${limit}.`, type: "greater_than" };
    case "maximum":
      return { msg: `Send a number that is at most ${limit}.`, type: "less_than_equal" };
    case "exclusiveMaximum":
      return { msg: `Send a number less than ${limit}.`, type: "less_than" };
    case "minLength":
      return { msg: `Send at least ${limit} ${plural(limit, "character")}.`, type: "string_too_short" };
    case "maxLength":
      return { msg: `Send at most ${limit} ${plural(limit, "character")}.`, type: "string_too_long" };
    case "minItems":
      return { msg: `Send at least ${limit} ${plural(limit, "item")}.`, type: "too_short" };
    case "maxItems":
      return { msg: `Send at most ${limit} ${plural(limit, "item")}.`, type: "too_long" };
    default:
      return { msg: "Send one of the documented forms.", type: "value_error" };
  }
}

const spoken: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

function typeNames(type: unknown): string {
  const types = Array.isArray(type) ? type : String(type).split(",");
  return types.map((name) => spoken[String(name)] ?? String(name)).join(" or ");
}

function firstType(type: unknown): string {
  const [first] = Array.isArray(type) ? type : String(type).split(",");
  const codes: Record<string, string> = { integer: "int", boolean: "bool", array: "list", number: "float" };
  return codes[String(first)] ?? String(first);
}

function plural(count: number, word: string): string {
  return count === 1 ? word : `${word}s`;
}

/** An error of one form is not reported when other forms were possible: the choice as a whole failed. */
function isPartOf(error: ErrorObject, failedChoices: readonly ErrorObject[]): boolean {
  return failedChoices.some((choice) => error.schemaPath.startsWith(`${choice.schemaPath}/`));
}

/** Converts a JSON pointer to the contract's path: positions in lists are numbers. */
function locate(pointer: string, value: unknown): (string | number)[] {
  const path: (string | number)[] = [];
  let current = value;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const step = Array.isArray(current) ? Number(name) : name;
    path.push(step);
    current = (current as Record<string | number, unknown> | undefined)?.[step];
  }
  return path;
}
