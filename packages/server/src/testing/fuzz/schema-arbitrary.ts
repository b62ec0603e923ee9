import fc from "fast-check";
import { resolveSchema, type Schema, type Schemas } from "./document.ts";

/** Values for properties whose schema is less strict than the server, by the name of the property. */
export type NamedValues = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Below this depth objects have only their required properties, and lists are empty if possible. */
const deepest = 4;

/** Arbitrary values of a schema of an OpenAPI document. */
export function createSchemaArbitrary(
  schemas: Schemas,
  named: NamedValues,
): (schema: Schema) => fc.Arbitrary<unknown> {
  const known = new Map<string, fc.Arbitrary<unknown>>();

  function from(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (schema.$ref === undefined) return build(schema, depth);
    const key = `${Math.min(depth, deepest)} ${schema.$ref}`;
    let found = known.get(key);
    if (found === undefined) {
      found = build(resolveSchema(schema, schemas), depth);
      known.set(key, found);
    }
    return found;
  }

  function build(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return fc.oneof(...shallow(choices, depth).map((part) => from(part, depth)));
    const types = [schema.type ?? "anything"].flat();
    return fc.oneof(...types.map((type) => ofType(type, schema, depth)));
  }

  /** At depth, only the choices that end the recursion. */
  function shallow(choices: readonly Schema[], depth: number): readonly Schema[] {
    if (depth < deepest) return choices;
    const ending = choices.filter(
      ({ type, $ref }) => $ref === undefined && type !== "object" && type !== "array",
    );
    return ending.length === 0 ? choices.slice(0, 1) : ending;
  }

  function ofType(type: string, schema: Schema, depth: number): fc.Arbitrary<unknown> {
    switch (type) {
      case "object":
        return objectOf(schema, depth);
      case "array":
        return arrayOf(schema, depth);
      case "integer":
        return integerOf(schema);
      case "number":
        return numberOf(schema);
      case "boolean":
        return fc.boolean();
      case "null":
        return fc.constant(null);
      case "string":
        return textOf(schema);
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  }

  function objectOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const { properties = {}, required = [], additionalProperties } = schema;
    const needed = Object.keys(properties).filter((name) => name === "kind" || required.includes(name));
    const chosen = depth >= deepest ? needed : Object.keys(properties);
    const parts = Object.fromEntries(
      chosen.map((name) => [name, named[name] ?? from(properties[name]!, depth + 1)]),
    );
    const record = fc.record(parts, { requiredKeys: needed });
    if (typeof additionalProperties !== "object" || depth >= deepest) return record;
    const more = fc.dictionary(
      fc.constantFrom("one", "two", "NAME_3"),
      from(additionalProperties, depth + 1),
      {
        maxKeys: 2,
      },
    );
    return fc.tuple(more, record).map(([open, listed]) => ({ ...open, ...listed }));
  }

  function arrayOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const { items = {}, prefixItems, minItems = 0, maxItems = minItems + 3 } = schema;
    if (prefixItems !== undefined) return fc.tuple(...prefixItems.map((part) => from(part, depth + 1)));
    if (depth >= deepest && minItems === 0) return fc.constant([]);
    return fc.array(from(items, depth + 1), {
      minLength: minItems,
      maxLength: Math.min(maxItems, minItems + 3),
    });
  }

  return (schema) => from(schema, 0);
}

function integerOf(schema: Schema): fc.Arbitrary<number> {
  const min = schema.minimum ?? (schema.exclusiveMinimum === undefined ? 0 : schema.exclusiveMinimum + 1);
  const max =
    schema.maximum ?? (schema.exclusiveMaximum === undefined ? min + 1000 : schema.exclusiveMaximum - 1);
  return fc.oneof(fc.constantFrom(min, Math.min(min + 1, max), max), fc.integer({ min, max }));
}

function numberOf(schema: Schema): fc.Arbitrary<number> {
  const min = schema.minimum ?? schema.exclusiveMinimum ?? 0;
  const max = schema.maximum ?? schema.exclusiveMaximum ?? min + 1000;
  return fc.double({
    min,
    max,
    noNaN: true,
    noDefaultInfinity: true,
    minExcluded: schema.exclusiveMinimum !== undefined,
    maxExcluded: schema.exclusiveMaximum !== undefined,
  });
}

function textOf({ format, pattern, minLength = 0, maxLength = 1_000 }: Schema): fc.Arbitrary<string> {
  if (format === "uuid") return fc.uuid();
  if (format === "date-time") {
    const min = new Date("2020-01-01");
    return fc
      .date({ min, max: new Date("2030-01-01"), noInvalidDate: true })
      .map((date) => date.toISOString());
  }
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  const lengths = { minLength, maxLength: Math.min(maxLength, minLength + 20) };
  const plain = ["a", "one", "Two words.", "Grüße 👋"].filter(
    ({ length }) => length >= minLength && length <= maxLength,
  );
  const odd = [fc.string(lengths), fc.string({ ...lengths, unit: "grapheme" })];
  return plain.length === 0 ? fc.oneof(...odd) : fc.oneof(fc.constantFrom(...plain), ...odd);
}
