import { isObject, listOf, objectOr, type JsonObject } from "./json-object.ts";

/** More than a model needs to read of one tool; the arguments themselves are listed beside it. */
const maxRuleChars = 2_000;
const maxSchemaChars = 1_000;

/** What a schema of arguments says besides its list of properties, a sentence for each rule. */
export function describeRules(schema: JsonObject): string[] {
  return rulesOf(schema, 0).map((rule) => clip(rule, maxRuleChars));
}

function rulesOf(schema: JsonObject, depth: number): string[] {
  // Deeper ones would be read by nobody.
  if (depth > 4) return [];
  const set = (part: unknown): string => describeSet(part, depth);
  const rules: string[] = [];
  for (const [keyword, words] of Object.entries(choiceWords)) {
    const sets = listOf(schema[keyword]).map(set);
    if (sets.some((text) => text !== nothing)) rules.push(`${words}: ${[...new Set(sets)].join(" or ")}.`);
  }
  if (isObject(schema["if"])) {
    const [then, otherwise] = [set(schema["then"]), set(schema["else"])];
    if (then !== nothing) rules.push(`With ${set(schema["if"])} give ${then}.`);
    if (otherwise !== nothing) rules.push(`Without ${set(schema["if"])} give ${otherwise}.`);
  }
  for (const keyword of ["dependentSchemas", "dependentRequired", "dependencies"]) {
    for (const [name, part] of Object.entries(objectOr(schema[keyword]))) {
      const more = set(Array.isArray(part) ? { required: part } : part);
      if (more !== nothing) rules.push(`With (${name}) give ${more}.`);
    }
  }
  const forbidden = set(schema["not"]);
  if (forbidden !== nothing) rules.push(`Do not give ${forbidden}.`);
  rules.push(...otherNames(schema));
  const [least, greatest] = [schema["minProperties"], schema["maxProperties"]];
  if (typeof least === "number" && least > 0) rules.push(`Give at least ${least} of the arguments.`);
  if (typeof greatest === "number") rules.push(`Give at most ${greatest} of the arguments.`);
  return [
    ...rules,
    ...listOf(schema["allOf"]).flatMap((part) => (isObject(part) ? rulesOf(part, depth + 1) : [])),
  ];
}

const choiceWords = {
  oneOf: "Give the arguments of exactly one of these",
  anyOf: "Give the arguments of at least one of these",
};

const nothing = "(nothing more)";

/** The arguments of one choice: `(mode = "file", path, optionally lines)`. */
function describeSet(part: unknown, depth: number): string {
  if (!isObject(part)) return nothing;
  const wholes = [part, ...listOf(part["allOf"]).filter(isObject)];
  const required = new Set(wholes.flatMap((each) => listOf(each["required"])));
  const properties = wholes.flatMap((each) => Object.entries(objectOr(each["properties"])));
  const values = new Map(properties.map(([name, property]) => [name, valueOf(property)]));
  const named = (name: string): string => `${name}${values.get(name) ?? ""}`;
  const needed = [...required].filter((name): name is string => typeof name === "string").map(named);
  const more = [...values.keys()].filter((name) => !required.has(name));
  const fixed = more.filter((name) => values.get(name) !== "").map(named);
  const free = more.filter((name) => values.get(name) === "").map((name) => `optionally ${name}`);
  const texts = [...needed, ...fixed, ...free, ...rulesOf(part, depth + 1)];
  return texts.length === 0 ? nothing : `(${texts.join(", ")})`;
}

function valueOf(property: unknown): string {
  if (!isObject(property)) return "";
  if (Object.hasOwn(property, "const")) return ` = ${clip(JSON.stringify(property["const"]), 100)}`;
  const values = listOf(property["enum"]);
  return values.length === 0
    ? ""
    : ` = ${clip(values.map((value) => JSON.stringify(value)).join(" or "), 200)}`;
}

function otherNames(schema: JsonObject): string[] {
  const patterns = Object.entries(objectOr(schema["patternProperties"])).map(
    ([pattern, property]) => `Arguments whose names fit ${pattern} are taken too${asSchema(property)}.`,
  );
  const { additionalProperties: others, unevaluatedProperties: rest = others } = schema;
  return rest === undefined || rest === false
    ? patterns
    : [...patterns, `Arguments of any other name are taken too${asSchema(rest)}.`];
}

function asSchema(property: unknown): string {
  if (!isObject(property) || Object.keys(property).length === 0) return "";
  return `, each as this schema says: ${clip(JSON.stringify(property), maxSchemaChars)}`;
}

function clip(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}...`.toWellFormed();
}
