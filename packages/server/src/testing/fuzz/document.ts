/** What the fuzzer reads of JSON Schema. */
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
        body: content?.["application/json"]?.schema ?? null,
        form: content?.["multipart/form-data"]?.schema ?? null,
      };
    }),
  );
}

/** What a reference leads to; other schemas are themselves. */
export function resolveSchema(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
  const found = schemas[name];
  if (found === undefined) throw new Error(`The document has no schema ${name}.`);
  return resolveSchema(found, schemas);
}
