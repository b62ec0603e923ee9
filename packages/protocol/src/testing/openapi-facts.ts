/** What can be compared about an OpenAPI document: structure in short lines, without any words of the document. */
export type OpenApiFacts = {
  /** Component -> property (or mapping key) -> what it is; `(form)` says what the component itself is. */
  readonly schemas: Readonly<Record<string, Facts>>;
  /** `GET /path` -> `query name`, `path name`, `body` or a status -> what it is. */
  readonly operations: Readonly<Record<string, Facts>>;
};
export type Facts = Readonly<Record<string, string>>;

type Json = Record<string, unknown>;

/** Words and hints that no client acts upon. */
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
  // A choice of one is what it is a choice of.
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
