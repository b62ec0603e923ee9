import { describeRules } from "./describe-rules.ts";
import { isObject, listOf, objectOr, type JsonObject } from "./json-object.ts";

/** A schema of arguments as one list of properties, with what a list cannot say in words. */
export type FlatSchema = {
  readonly properties: JsonObject;
  readonly required: readonly string[];
  readonly rules: readonly string[];
};

/**
 * Joins what a schema says of its arguments in `allOf`, and makes one list of the properties of all choices: providers take no choice
 * at the top of a schema, and the model must see every argument. What belongs to a choice can be left out.
 * References are in place already; everything below an argument stays as it is.
 */
export function flattenSchema(schema: JsonObject): FlatSchema {
  const found: Found = { properties: new Map(), required: new Set() };
  collect(schema, found, "always");
  return {
    properties: Object.fromEntries([...found.properties].map(([name, claims]) => [name, joinClaims(claims)])),
    required: [...found.required],
    rules: describeRules(schema),
  };
}

/** With these a schema says something of its arguments elsewhere than in its `properties`. */
const composing = [
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "then",
  "else",
  "not",
  "dependentSchemas",
  "dependentRequired",
  "dependencies",
];

/** Whether a list of properties is all that a schema says. */
export function isFlat(schema: JsonObject): boolean {
  const properties = objectOr(schema["properties"]);
  const required = listOf(schema["required"]);
  return (
    composing.every((keyword) => !Object.hasOwn(schema, keyword)) &&
    required.every((name) => typeof name === "string" && Object.hasOwn(properties, name))
  );
}

type When = "always" | "sometimes";
/** The descriptions of one argument, by the choice that they apply to. */
type Claims = Readonly<Record<When, JsonObject[]>>;
type Found = { readonly properties: Map<string, Claims>; readonly required: Set<string> };

function collect(part: unknown, found: Found, when: When): void {
  if (!isObject(part)) return;
  for (const [name, property] of Object.entries(objectOr(part["properties"])))
    claim(found, name, property, when);
  for (const name of listOf(part["required"])) {
    if (typeof name !== "string") continue;
    claim(found, name, true, when);
    if (when === "always") found.required.add(name);
  }
  for (const each of listOf(part["allOf"])) collect(each, found, when);
  for (const choices of [part["anyOf"], part["oneOf"]]) {
    for (const each of listOf(choices)) collect(each, found, "sometimes");
  }
  for (const each of [part["if"], part["then"], part["else"]]) collect(each, found, "sometimes");
  for (const dependents of [part["dependentSchemas"], part["dependentRequired"], part["dependencies"]]) {
    for (const [name, each] of Object.entries(objectOr(dependents))) {
      claim(found, name, true, "sometimes");
      collect(Array.isArray(each) ? { required: each } : each, found, "sometimes");
    }
  }
}

function claim({ properties }: Found, name: string, property: unknown, when: When): void {
  const known = properties.get(name) ?? { always: [], sometimes: [] };
  properties.set(name, known);
  if (!isObject(property) || Object.keys(property).length === 0) return;
  const text = JSON.stringify(property);
  if (!known[when].some((other) => JSON.stringify(other) === text)) known[when].push(property);
}

function joinClaims({ always, sometimes }: Claims): JsonObject {
  const sure = always.reduce<JsonObject | null>((all, each) => (all === null ? each : both(all, each)), null);
  const [first, ...others] = sometimes;
  if (first === undefined) return sure ?? {};
  // The rules in words say which of its values belong to which choice.
  if (sure !== null && sometimes.every((each) => valuesOf(each) !== null)) return sure;
  const choice = others.length === 0 ? first : oneOfMany(sometimes);
  return sure === null ? choice : both(sure, choice);
}

const notes: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "$comment",
]);

/** A schema that says what both say. */
function both(one: JsonObject, other: JsonObject): JsonObject {
  const clashes = Object.keys(other).some(
    (key) =>
      !notes.has(key) && Object.hasOwn(one, key) && JSON.stringify(one[key]) !== JSON.stringify(other[key]),
  );
  return clashes ? { allOf: [one, other] } : { ...other, ...one };
}

function oneOfMany(choices: readonly JsonObject[]): JsonObject {
  const values = choices.map(valuesOf);
  if (!values.every((some) => some !== null)) return { anyOf: choices };
  const types = new Set(choices.map(({ type }) => type));
  const [type] = types;
  return { ...(types.size === 1 && type !== undefined ? { type } : {}), enum: [...new Set(values.flat())] };
}

/** The few values that a schema takes, where it says nothing else. */
function valuesOf(schema: JsonObject): readonly unknown[] | null {
  if (!Object.keys(schema).every((key) => notes.has(key) || ["type", "const", "enum"].includes(key)))
    return null;
  if (Object.hasOwn(schema, "const")) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? (schema["enum"] as unknown[]) : null;
}
