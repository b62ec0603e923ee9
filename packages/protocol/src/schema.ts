import { Type, type Static, type TProperties, type TSchema, type TSchemaOptions } from "typebox";

/**
 * Builders for the schemas of this package. Every object that travels is named (`$id` is its component name) and is
 * mentioned by `$ref`: the validator then compiles each object once and fills nested defaults.
 *
 * `impliedDefault` is what a missing field means where the contract declares no default (an absent list is empty, an
 * absent nullable is null). The validator fills it in; documents do not show it.
 */

/** A named object that accepts and keeps properties it does not list. */
export function object<P extends TProperties>(name: string, properties: P, options: TSchemaOptions = {}) {
  return Type.Object(properties, { ...options, $id: name });
}

/** A named object that rejects properties it does not list. */
export function closedObject<P extends TProperties>(
  name: string,
  properties: P,
  options: TSchemaOptions = {},
) {
  return Type.Object(properties, { ...options, $id: name, additionalProperties: false });
}

/** The request form: component `<kind>-Input`, where the kind may be left out if no other kind is possible. */
export function inputOfKind<K extends string, P extends TProperties>(kind: K, properties: P) {
  return object(`${kind}-Input`, {
    ...properties,
    kind: Type.Optional(Type.Literal(kind, { impliedDefault: kind })),
  });
}

/** The request form of what loosens or tightens safety: it rejects properties it does not list. */
export function closedInputOfKind<K extends string, P extends TProperties>(kind: K, properties: P) {
  return closedObject(`${kind}-Input`, {
    ...properties,
    kind: Type.Optional(Type.Literal(kind, { impliedDefault: kind })),
  });
}

/** The reply form: component `<kind>-Output`, which always carries the kind. */
export function outputOfKind<K extends string, P extends TProperties>(kind: K, properties: P) {
  return object(`${kind}-Output`, { ...properties, kind: Type.Literal(kind) });
}

/** Mentions a named schema. */
export function ref<T extends TSchema>(schema: T, options: TSchemaOptions = {}) {
  return Type.Unsafe<Static<T>>(Type.Ref(nameOf(schema), options));
}

/** Mentions a schema by its component name, where it is defined further down (recursive schemas). */
export function refTo<T>(name: string) {
  return Type.Unsafe<T>(Type.Ref(name));
}

/** A named union chosen by `kind`; the keys are the contract's discriminator mapping keys. */
export function unionByKind<M extends Record<string, TSchema>>(name: string, members: M) {
  const schemas = Object.entries(members);
  return Type.Unsafe<Static<M[keyof M]>>({
    $id: name,
    oneOf: schemas.map(([, schema]) => ref(schema)),
    discriminator: {
      propertyName: "kind",
      mapping: Object.fromEntries(schemas.map(([key, schema]) => [key, nameOf(schema)])),
    },
  });
}

/** One of a fixed set of strings. */
export function choice<const V extends string[]>(values: readonly [...V], options: TSchemaOptions = {}) {
  return Type.Enum(values, { ...options, type: "string" });
}

/** An optional boolean with a declared default. */
export function flag(value: boolean, options: TSchemaOptions = {}) {
  return Type.Optional(Type.Boolean({ ...options, default: value }));
}

/** An optional list; absent means empty. */
export function list<T extends TSchema>(items: T, options: TSchemaOptions = {}) {
  return Type.Optional(Type.Array(items, { ...options, impliedDefault: [] }));
}

/** An optional field whose absence means null; filled in with null. */
export function orNull<T extends TSchema>(schema: T, options: TSchemaOptions = {}) {
  return Type.Optional(nullable(schema, { impliedDefault: null, ...options }));
}

/** An optional field that may be null; left as the writer gave it, because events go out without empty fields. */
export function orAbsent<T extends TSchema>(schema: T, options: TSchemaOptions = {}) {
  return Type.Optional(nullable(schema, options));
}

/** A value of the schema, or null. */
export function nullable<T extends TSchema>(schema: T, options: TSchemaOptions = {}) {
  const { anyOf = [schema] } = schema as { anyOf?: TSchema[] };
  return Type.Unsafe<Static<T> | null>({ ...options, anyOf: [...anyOf, Type.Null()] });
}

/** A map from any string to values of one schema. */
export function mapOf<T extends TSchema>(values: T, options: TSchemaOptions = {}) {
  return Type.Unsafe<Record<string, Static<T>>>({ ...options, type: "object", additionalProperties: values });
}

/** A JSON object about which nothing more is said. */
export function anyObject(options: TSchemaOptions = {}) {
  return Type.Unsafe<Record<string, unknown>>({ ...options, type: "object", additionalProperties: true });
}

/** Text that may hold a credential; never shown again once sent. */
export function credential() {
  return Type.Union([Type.String(), Type.String({ format: "password", writeOnly: true })]);
}

/** The component name of a named schema. */
export function nameOf(schema: TSchema): string {
  const { $id } = schema as { $id?: string };
  if ($id === undefined) throw new Error("The schema has no name: build it with one of the named builders.");
  return $id;
}
