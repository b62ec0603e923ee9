import { isValue, type Value } from "../readings/reading.ts";
import { partsOf, type SchemaRule } from "./tool-schemas.ts";

/** Says that a part of a schema is wrong where the value of this keyword is. */
function keyword(name: string, isWrong: (value: unknown, node: Value) => boolean): SchemaRule {
  return (node, path) => {
    const value = node[name];
    return value !== undefined && isWrong(value, node) ? { path: [...path, name], found: value } : null;
  };
}

export const arraysHaveItems: SchemaRule = (node, path) => {
  const isArray = typesOf(node).includes("array");
  return isArray && node["items"] === undefined && node["prefixItems"] === undefined
    ? { path, found: node }
    : null;
};

export const noLookaround: SchemaRule = keyword(
  "pattern",
  (value) => typeof value === "string" && /\(\?<?[=!]/u.test(value),
);

export const patternsCompile: SchemaRule = keyword("pattern", (value) => {
  if (typeof value !== "string") return true;
  try {
    RegExp(value, "u");
    return false;
  } catch {
    // An invalid pattern is the fault.
    return true;
  }
});

/** The root is an object and nothing that chooses between several. */
export const plainRoot: SchemaRule = (node, path) => {
  if (path.length > 0) return null;
  const found = ["oneOf", "anyOf", "allOf", "enum", "not"].find((name) => node[name] !== undefined);
  return found === undefined ? null : { path: [found], found: node[found] };
};

export const rootIsObject: SchemaRule = (node, path) =>
  path.length > 0 || node["type"] === "object" ? null : { path: ["type"], found: node["type"] };

/** Types are names, never lists of names. */
export const oneType: SchemaRule = keyword("type", (value) => typeof value !== "string");

const jsonTypes = ["string", "number", "integer", "boolean", "array", "object", "null"];

export const knownTypes: SchemaRule = (node, path) => {
  const wrong = typesOf(node).find((type) => !jsonTypes.includes(type as string));
  return wrong === undefined ? null : { path: [...path, "type"], found: wrong };
};

export const requiredIsDefined: SchemaRule = (node, path) => {
  const required = Array.isArray(node["required"]) ? (node["required"] as unknown[]) : [];
  const properties = isValue(node["properties"]) ? node["properties"] : {};
  const at = required.findIndex((name) => typeof name !== "string" || !Object.hasOwn(properties, name));
  return at === -1 ? null : { path: [...path, "required", `${at}`], found: required[at] };
};

/** A schema with `required` also has `properties`. */
export const requiredHasProperties: SchemaRule = (node, path) =>
  Array.isArray(node["required"]) && !isValue(node["properties"])
    ? { path: [...path, "required"], found: node["required"] }
    : null;

/** Only definitions of the same schema may be referred to. */
export const localRefs: SchemaRule = keyword(
  "$ref",
  (value) => typeof value !== "string" || !/^#\/\$defs\/[^/]+$/u.test(value),
);

/** These keywords are understood; any other is refused by name. */
export function onlyKeywords(known: readonly string[]): SchemaRule {
  return (node, path) => {
    const name = Object.keys(node).find((one) => !known.includes(one));
    return name === undefined ? null : { path: [...path, name], found: node[name] };
  };
}

/** A text has one of these formats, if any. */
export function onlyFormats(known: readonly string[]): SchemaRule {
  return keyword("format", (value, node) => node["type"] === "string" && !known.includes(value as string));
}

export const enumsOfTexts: SchemaRule = keyword(
  "enum",
  (value, node) =>
    !Array.isArray(value) || node["type"] !== "string" || value.some((one) => typeof one !== "string"),
);

export const itemsAreOneSchema: SchemaRule = keyword("items", (value) => !isValue(value));

export const noTypeBesideAnyOf: SchemaRule = (node, path) =>
  Array.isArray(node["anyOf"]) && node["type"] !== undefined ? { path, found: node["type"] } : null;

/** Every part has a type, a choice between parts, a constant or a reference. */
export const everyPartHasType: SchemaRule = (node, path) => {
  const names = ["type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"];
  const isContainer = path.length === 0 && node["properties"] !== undefined;
  return isContainer || names.some((name) => node[name] !== undefined) ? null : { path, found: node };
};

/** Names of properties have this form. */
export function propertyNames(pattern: RegExp): SchemaRule {
  return keyword(
    "properties",
    (value) => isValue(value) && Object.keys(value).some((name) => !pattern.test(name)),
  );
}

/** A schema is not nested deeper than this. */
export function depthUpTo(max: number): SchemaRule {
  return (node, path) => (path.length === 0 && depthOf(node) > max ? { path, found: depthOf(node) } : null);
}

function depthOf(node: Value): number {
  return 1 + Math.max(0, ...[...partsOf(node)].map(([, part]) => depthOf(part)));
}

function typesOf(node: Value): readonly unknown[] {
  const { type } = node;
  if (type === undefined) return [];
  return Array.isArray(type) ? (type as unknown[]) : [type];
}
