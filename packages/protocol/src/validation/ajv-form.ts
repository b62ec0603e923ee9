import type { TSchema } from "typebox";

type Json = Record<string, unknown>;
type ByName = ReadonlyMap<string, TSchema>;

/**
 * A choice between named objects, selected by one property. `branches` maps the property's value to a schema name. Without the
 * property, the first of `untagged` whose fields are all present is selected, or else the first.
 */
export type Choice = {
  readonly property: string;
  readonly branches: Readonly<Record<string, string>>;
  readonly untagged: readonly { readonly required: readonly string[]; readonly name: string }[];
};

/**
 * Rewrites a schema for the validator. Choices become explicit instead of trial and error: a failed branch would leave its defaults in
 * the value, and errors about forms that nobody meant.
 */
export function toAjvForm(schema: TSchema, byName: ByName): Json {
  return rewrite(schema as Json, byName);
}

function rewrite(schema: Json, byName: ByName): Json {
  const { anyOf, oneOf, discriminator, impliedDefault, impliedKind, ...rest } = schema;
  const own = rewriteParts(rest, byName);
  if (!("default" in own) && impliedDefault !== undefined) own["default"] = impliedDefault;
  if (Array.isArray(anyOf)) return { ...own, ...rewriteAnyOf(anyOf as Json[], byName) };
  if (Array.isArray(oneOf)) {
    const { propertyName } = discriminator as { propertyName: string };
    return { ...own, ...choose(propertyName, oneOf as Json[], byName, impliedKind) };
  }
  return own;
}

function rewriteParts(schema: Json, byName: ByName): Json {
  const parts: Json = { ...schema };
  for (const keyword of ["items", "additionalProperties"]) {
    const part = parts[keyword];
    if (typeof part === "object" && part !== null) parts[keyword] = rewrite(part as Json, byName);
  }
  if (typeof parts["properties"] === "object") {
    const properties = Object.entries(parts["properties"] as Record<string, Json>);
    parts["properties"] = Object.fromEntries(properties.map(([name, part]) => [name, rewrite(part, byName)]));
  }
  return parts;
}

function rewriteAnyOf(branches: readonly Json[], byName: ByName): Json {
  const others = branches.filter((branch) => branch["type"] !== "null");
  if (others.length < branches.length) return allowNull(others, byName);
  if (others.every((branch) => constantOf(branch, "type", byName) !== undefined)) {
    return choose("type", others, byName);
  }
  const [first, second] = others;
  if (others.length === 2 && first!["$ref"] === undefined && second!["$ref"] !== undefined) {
    return { if: { type: first!["type"] }, then: rewrite(first!, byName), else: rewrite(second!, byName) };
  }
  return { anyOf: others.map((branch) => rewrite(branch, byName)) };
}

function allowNull(others: readonly Json[], byName: ByName): Json {
  if (others.length > 1) return { if: { not: { type: "null" } }, then: rewriteAnyOf(others, byName) };
  const only = rewrite(others[0]!, byName);
  const isSimple = typeof only["type"] === "string" && !("enum" in only) && !("const" in only);
  if (isSimple) return { ...only, type: [only["type"], "null"] };
  return { if: { not: { type: "null" } }, then: only };
}

/** `implied`: the name of the object that is meant without the property. */
function choose(property: string, branches: readonly Json[], byName: ByName, implied?: unknown): Json {
  const names = branches.map((branch) => String(branch["$ref"]));
  const choice: Choice = {
    property,
    branches: Object.fromEntries(
      branches.map((branch, index) => [constantOf(branch, property, byName), names[index]!]),
    ),
    untagged:
      typeof implied === "string"
        ? [{ required: [], name: implied }]
        : property === "type"
          ? names.map((name) => ({ required: requiredOf(name, byName), name }))
          : [],
  };
  return { choice };
}

function requiredOf(name: string, byName: ByName): readonly string[] {
  return (byName.get(name) as { required?: readonly string[] }).required ?? [];
}

function constantOf(branch: Json, property: string, byName: ByName): string | undefined {
  const target: { properties?: Record<string, Json> } | undefined = byName.get(String(branch["$ref"]));
  return target?.properties?.[property]?.["const"] as string | undefined;
}
