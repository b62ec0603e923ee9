type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly default?: unknown;
};

/** A small value of an OpenAPI schema: required fields only, and the first of several possibilities. */
export function leastValue(schema: Schema, schemas: Readonly<Record<string, Schema>>): unknown {
  if (schema.$ref !== undefined) return leastValue(schemas[schema.$ref.split("/").at(-1)!]!, schemas);
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  const [first] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (first !== undefined) return leastValue(first, schemas);
  switch (Array.isArray(schema.type) ? (schema.type as string[])[0] : schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          // Members of unions are discriminated by their kind, required or not.
          .filter(([name]) => name === "kind" || schema.required?.includes(name))
          .map(([name, property]) => [name, leastValue(property, schemas)]),
      );
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => leastValue(schema.items ?? {}, schemas));
    case "integer":
    case "number":
      return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "string":
      return leastText(schema);
    default:
      return {};
  }
}

function leastText({ format, minLength }: Schema): string {
  if (format === "uuid") return "00000000-0000-7000-8000-000000000000";
  if (format === "date-time") return "2026-01-31T12:00:00Z";
  return "x".repeat(Math.max(1, minLength ?? 0));
}
