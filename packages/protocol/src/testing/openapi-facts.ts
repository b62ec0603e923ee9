/** The comparable facts of an OpenAPI document: its structure in short lines, without descriptions. */
export type OpenApiFacts = {
  /** Component -> property (or mapping key) -> its type; `(form)` is the type of the component itself. */
  readonly schemas: Readonly<Record<string, Facts>>;
  /** `GET /path` -> `query name`, `path name`, `body` or a status -> its type. */
  readonly operations: Readonly<Record<string, Facts>>;
};
export type Facts = Readonly<Record<string, string>>;

type Json = Record<string, unknown>;

/** Descriptions and hints that do not affect clients. */
const ignored = new Set(["description", "title", "examples", "properties", "required", "discriminator"]);

/** The facts of a parsed OpenAPI document. */
export function readFacts(document: unknown): OpenApiFacts {
  const { components, paths } = document as {
    components: { schemas: Record<string, Json> };
    paths: Record<string, Record<string, Json>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      ofOperation(operation),
    ]),
  );
  return {
    schemas: mapValues(components.schemas, ofComponent),
    operations: Object.fromEntries(operations) as Record<string, Facts>,
  };
}

function ofComponent(schema: Json): Facts {
  const facts: Record<string, string> = { "(form)": ofSchema(schema) };
  const required = new Set((schema["required"] ?? []) as string[]);
  for (const [name, part] of Object.entries((schema["properties"] ?? {}) as Record<string, Json>)) {
    facts[name] = `${required.has(name) ? "required " : ""}${ofSchema(part)}`;
  }
  const { mapping } = (schema["discriminator"] ?? {}) as { mapping?: Record<string, string> };
  for (const [key, target] of Object.entries(mapping ?? {})) facts[key] = nameIn(target);
  return facts;
}

function ofSchema(schema: Json): string {
  const { oneOf, discriminator } = schema as { oneOf?: Json[]; discriminator?: unknown };
  // A choice of one equals its only branch.
  if (oneOf?.length === 1 && discriminator === undefined) return ofSchema(oneOf[0]!);
  const parts = Object.keys(schema)
    .filter((keyword) => !ignored.has(keyword))
    .sort()
    .map((keyword) => ofKeyword(keyword, schema[keyword]));
  const { propertyName } = (schema["discriminator"] ?? {}) as { propertyName?: string };
  if (propertyName !== undefined) parts.push(`by ${propertyName}`);
  return parts.join(" ") || "anything";
}

function ofKeyword(keyword: string, value: unknown): string {
  switch (keyword) {
    case "$ref":
      return nameIn(String(value));
    case "type":
      return String(value);
    case "anyOf":
    case "oneOf":
    case "prefixItems":
      return `${keyword}(${(value as Json[]).map(ofSchema).join(" | ")})`;
    case "items":
      return `of(${ofSchema(value as Json)})`;
    case "additionalProperties":
      return typeof value === "object" ? `values(${ofSchema(value as Json)})` : `open=${value === true}`;
    default:
      return `${keyword}=${JSON.stringify(value)}`;
  }
}

function ofOperation(operation: Json): Facts {
  const facts: Record<string, string> = {};
  for (const parameter of (operation["parameters"] ?? []) as Json[]) {
    const required = parameter["required"] === true ? "required " : "";
    facts[`${String(parameter["in"])} ${String(parameter["name"])}`] =
      required + ofSchema(parameter["schema"] as Json);
  }
  const body = operation["requestBody"] as Json | undefined;
  if (body !== undefined) facts["body"] = (body["required"] === true ? "required " : "") + ofContent(body);
  for (const [status, response] of Object.entries(operation["responses"] as Record<string, Json>)) {
    facts[status] = status < "300" ? ofContent(response) : "an error";
  }
  return facts;
}

function ofContent(holder: Json): string {
  const content = Object.entries((holder["content"] ?? {}) as Record<string, { schema: Json }>);
  return content.map(([type, { schema }]) => `${type} ${ofSchema(schema)}`).join(" | ");
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

function mapValues<V, R>(object: Record<string, V>, change: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
