import type { TSchema } from "typebox";
import type { Route, RouteResponse } from "./routes/route.ts";
import { allSchemas } from "./schemas.ts";

type Json = Record<string, unknown>;

export type OpenApiOptions = {
  readonly title: string;
  /** Version of the interface, not of the program. */
  readonly version: string;
  /** Schemas to include although no route uses them, by component name. */
  readonly schemas?: readonly string[];
};

const keyScheme = "sessionApiKey";

/** An OpenAPI 3.1 document of the routes, with every schema they use as a component. Deterministic to the byte. */
export function writeOpenApi(routes: readonly Route[], options: OpenApiOptions): Json {
  const components = new Map<string, Json>();
  const toSchema = (schema: TSchema) => writeSchema(schema as Json, components);

  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: writeOperation(route, toSchema),
    };
  }
  for (const name of options.schemas ?? []) addComponent(name, components);
  return {
    openapi: "3.1.0",
    info: { title: options.title, version: options.version },
    paths,
    components: {
      schemas: Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
      securitySchemes: { [keyScheme]: { type: "apiKey", in: "header", name: "X-Session-API-Key" } },
    },
  };
}

type ToSchema = (schema: TSchema) => Json;

function writeOperation(route: Route, toSchema: ToSchema): Json {
  const parameters = [
    ...writeParameters("path", route.params, toSchema),
    ...writeParameters("query", route.query, toSchema),
  ];
  const isKeyDeclared = route.auth && route.declaresAuth !== false;
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: writeBody(route.body, route, toSchema) }),
    ...(route.form === undefined
      ? {}
      : {
          requestBody: { required: true, content: writeContent(route.form, toSchema, "multipart/form-data") },
        }),
    responses: Object.fromEntries(
      Object.entries(route.responses).map(([status, response]) => [
        status,
        writeResponse(response, toSchema),
      ]),
    ),
    ...(isKeyDeclared ? { security: [{ [keyScheme]: [] }] } : {}),
  };
}

function writeParameters(place: "path" | "query", schema: TSchema | undefined, toSchema: ToSchema): Json[] {
  const { properties, required } = (schema ?? { properties: {} }) as {
    properties: Record<string, TSchema>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, part]) => {
    const { description, ...rest } = toSchema(part);
    const described = description === undefined ? {} : { description };
    return { name, in: place, required: required?.includes(name) ?? false, ...described, schema: rest };
  });
}

function writeBody(body: TSchema, route: Route, toSchema: ToSchema): Json {
  return { required: route.isBodyOptional !== true, content: writeContent(body, toSchema) };
}

function writeResponse({ description, schema }: RouteResponse, toSchema: ToSchema): Json {
  return { description, ...(schema === undefined ? {} : { content: writeContent(schema, toSchema) }) };
}

function writeContent(schema: TSchema, toSchema: ToSchema, type = "application/json"): Json {
  return { [type]: { schema: toSchema(schema) } };
}

/** A schema in use: a named one becomes a reference to its component. */
function writeSchema(schema: Json, components: Map<string, Json>): Json {
  const { $id } = schema as { $id?: string };
  if ($id === undefined) return writeParts(schema, components);
  return { $ref: addComponent($id, components) };
}

function addComponent(name: string, components: Map<string, Json>): string {
  if (!components.has(name)) {
    const { $id: _, ...schema } = findSchema(name);
    const component: Json = {};
    components.set(name, component);
    Object.assign(component, { title: titleOf(name) }, writeComponent(schema, components));
  }
  return `#/components/schemas/${name}`;
}

/** Generators derive type names from it; to a reader both directions of a schema are the same type. */
function titleOf(name: string): string {
  return name.replace(/-(Input|Output)$/, "");
}

/** A component that refers to another one becomes a choice of one, because newer documents have more choices there. */
function writeComponent(schema: Json, components: Map<string, Json>): Json {
  const written = writeParts(schema, components);
  return Object.keys(written).join() === "$ref" ? { oneOf: [written] } : written;
}

function writeParts(schema: Json, components: Map<string, Json>): Json {
  const written: Json = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "impliedDefault" || keyword === "impliedKind") continue;
    written[keyword] = writeKeyword(keyword, value, components);
  }
  return written;
}

function writeKeyword(keyword: string, value: unknown, components: Map<string, Json>): unknown {
  switch (keyword) {
    case "$ref":
      return addComponent(String(value), components);
    case "properties":
      return mapValues(value as Json, (part) => writeSchema(part as Json, components));
    case "anyOf":
    case "oneOf":
    case "prefixItems":
      return (value as Json[]).map((part) => writeSchema(part, components));
    case "items":
    case "additionalProperties":
      return typeof value === "object" ? writeSchema(value as Json, components) : value;
    case "discriminator": {
      const { propertyName, mapping } = value as { propertyName: string; mapping: Json };
      return { propertyName, mapping: mapValues(mapping, (name) => addComponent(String(name), components)) };
    }
    default:
      return value;
  }
}

function findSchema(name: string): Json {
  const schema = allSchemas.get(name);
  if (schema === undefined) throw new Error(`There is no schema named "${name}".`);
  return schema as Json;
}

function mapValues(object: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
