import {
  type Operation,
  type Parameter,
  type Schema,
  meaningOf,
  nameOf,
  requiredMark,
  schemaRows,
  table,
  textOf,
} from "./schema-text.ts";

/** The parts of an OpenAPI document that the pages show. */
export type OpenApi = {
  readonly info: { readonly title: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

export type RoutePage = { readonly name: string; readonly title: string; readonly markdown: string };

type Route = { readonly method: string; readonly path: string; readonly operation: Operation };

/** A Markdown page for each tag of the document, in its order: the routes, then the types that these routes name. */
export function routePages(document: OpenApi): readonly RoutePage[] {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const byTag = Map.groupBy(routes, ({ operation }) => operation.tags?.[0] ?? "Other");
  return [...byTag].map(([title, group]) => ({
    name: title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
    title,
    markdown: pageOf(document, title, group),
  }));
}

function pageOf({ info, components }: OpenApi, title: string, routes: readonly Route[]): string {
  const named = new Set(routes.flatMap(({ operation }) => schemasOf(operation).flatMap(namesIn)));
  named.delete("ErrorReply");
  named.delete("HTTPValidationError");
  const types = [...named].filter((name) => components.schemas[name] !== undefined).toSorted();
  return [
    `# ${title}`,
    `Routes of the ${info.title}, as in its OpenAPI document. They need a [key](../../guides/keys.md), but for health and logins.`,
    ...routes.map((route) => routeSection(route, types)),
    ...(types.length === 0 ? [] : ["## Types"]),
    ...types.map((name) => typeSection(name, components.schemas[name]!, types)),
    "",
  ].join("\n\n");
}

function routeSection({ method, path, operation }: Route, types: readonly string[]): string {
  const { parameters = [], requestBody, responses = {} } = operation;
  const body = Object.entries(requestBody?.content ?? {}).map(
    ([kind, { schema = {} }]) => `Body, \`${kind}\`: ${textOf(schema, types)}`,
  );
  return [
    `## ${operation.summary ?? `${method} ${path}`}`,
    `\`${method} ${path}\``,
    ...(operation.description === undefined ? [] : [operation.description]),
    ...(parameters.length === 0 ? [] : [parameterTable(parameters, types)]),
    ...body,
    table(
      ["Reply", "Meaning", "Content"],
      Object.entries(responses).map(([status, { description = "", content = {} }]) => [
        status,
        description,
        Object.values(content)
          .map(({ schema = {} }) => textOf(schema, types))
          .join(", "),
      ]),
    ),
  ].join("\n\n");
}

function parameterTable(parameters: readonly Parameter[], types: readonly string[]): string {
  return table(
    ["Parameter", "In", "Type", "Meaning"],
    parameters.map(({ name, in: place, required, schema = {}, description }) => [
      `\`${name}\`${requiredMark(required === true)}`,
      place,
      textOf(schema, types),
      meaningOf({ ...schema, description }),
    ]),
  );
}

function typeSection(name: string, schema: Schema, types: readonly string[]): string {
  const rows = schemaRows(schema, types);
  return [
    `### ${name}`,
    ...(schema.description === undefined ? [] : [schema.description]),
    rows.length === 0 ? textOf(schema, types, name) : table(["Field", "Type", "Meaning"], rows),
  ].join("\n\n");
}

function schemasOf({ requestBody, responses = {} }: Operation): readonly Schema[] {
  return [requestBody, ...Object.values(responses)].flatMap((part) =>
    Object.values(part?.content ?? {}).flatMap(({ schema }) => schema ?? []),
  );
}

/** Names of the types in a schema, without those that are inside of these. */
function namesIn(schema: Schema): readonly string[] {
  if (schema.$ref !== undefined) return [nameOf(schema.$ref)];
  return [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.items ? [schema.items] : [])].flatMap(
    namesIn,
  );
}
