import { type JsonSchema, schemaLines } from "./schema-lines.ts";

type Content = { readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>> };
type Operation = {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: JsonSchema;
  }[];
  readonly requestBody?: Content;
  readonly responses?: Readonly<Record<string, Content>>;
};
type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
};

/** What an OpenAPI document says of routes and the shapes that they take and give, a line each. Refusals are no promise. */
export function routeLines(text: string): readonly string[] {
  const { paths, components } = JSON.parse(text) as OpenApi;
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      operationLines(operation, `${method.toUpperCase()} ${path}`),
    ),
  );
  const shapes = Object.entries(components.schemas).flatMap(([name, schema]) => schemaLines(schema, name));
  return [...routes, ...shapes];
}

function operationLines({ parameters = [], requestBody, responses = {} }: Operation, name: string): string[] {
  const given = parameters.filter((parameter) => parameter.in === "query");
  const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  return [
    name,
    ...given.flatMap(({ name: field, required, schema = {} }) =>
      schemaLines(schema, `${name} ?${field}${required === true ? " (required)" : ""}`),
    ),
    ...contentLines(requestBody, `${name} <`),
    ...successes.flatMap(([status, response]) => [
      `${name} ${status}`,
      ...contentLines(response, `${name} ${status}`),
    ]),
  ];
}

function contentLines({ content = {} }: Content = {}, place: string): readonly string[] {
  return Object.entries(content).flatMap(([type, { schema = {} }]) =>
    schemaLines(schema, `${place} ${type}`),
  );
}
