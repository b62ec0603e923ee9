/** The parts of JSON Schema that the fuzzer reads. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
};

export type Schemas = Readonly<Record<string, Schema>>;

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export type Parameter = {
  readonly in: "path" | "query";
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
};

type Written = {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};

export type OpenApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Written>>>>;
  readonly components: { readonly schemas: Schemas };
};

/** One method of one path. */
export type Operation = Written & {
  readonly method: string;
  readonly path: string;
  /** `METHOD /path`, as in tables. */
  readonly name: string;
  /** Matches the paths of the operation. */
  readonly template: RegExp;
  /** A digit for each part of the path, 1 for a parameter: of several matching operations the smallest answers. */
  readonly rank: string;
  readonly body: Schema | null;
  readonly form: Schema | null;
};

export function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([key, written]) => {
      const content = written.requestBody?.content;
      return {
        ...written,
        method: key.toUpperCase(),
        path,
        name: `${key.toUpperCase()} ${path}`,
        template: templateOf(path),
        rank: Array.from(path.split("/"), (part) => (part.startsWith("{") ? "1" : "0")).join(""),
        body: content?.["application/json"]?.schema ?? null,
        form: content?.["multipart/form-data"]?.schema ?? null,
      };
    }),
  );
}

/** The operation for a method and a target; a literal part of a path takes precedence over a parameter. */
export function findOperation(
  operations: readonly Operation[],
  method: string,
  target: string,
): Operation | undefined {
  const [path = ""] = target.split("?", 1);
  const matching = operations.filter(
    (operation) => operation.method === method && operation.template.test(path),
  );
  return matching.toSorted((one, two) => (one.rank < two.rank ? -1 : 1))[0];
}

function templateOf(path: string): RegExp {
  const parts = path.split("/").map((part) => {
    if (!part.startsWith("{")) return part.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&");
    // A file's path is the rest of the address.
    return /^\{(file_)?path\}$/.test(part) ? ".*" : "[^/]*";
  });
  // The server ignores a trailing slash.
  return new RegExp(`^${parts.join("/").replace(/\/$/, "")}/?$`);
}

/** The target of a reference; other schemas stay. */
export function resolveSchema(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
  const found = schemas[name];
  if (found === undefined) throw new Error(`The document has no schema ${name}.`);
  return resolveSchema(found, schemas);
}
