import { Type, type Static, type TProperties, type TSchema, type TSchemaOptions } from "typebox";

/**
 * Builders for the schemas of this package. Every object on the wire is named (`$id` is its component name) and used by `$ref`, so
 * that the validator compiles each object once and fills nested defaults.
 * | `impliedDefault` is the value of a missing field when the contract declares no default (an absent list is empty, an absent nullable
 * is null). The validator fills it in; documents do not show it.
 */

/** A named object that accepts and preserves unlisted properties. */
export function object<P extends TProperties>(name: string, properties: P, options: TSchemaOptions = {}) {
  return Type.Object(properties, { ...options, $id: name });
}

/** A named object that rejects unlisted properties. */
export function closedObject<P extends TProperties>(
  name: string,
  properties: P,
  options: TSchemaOptions = {},
) {
  return Type.Object(properties, { ...options, $id: name, additionalProperties: false });
}

/** The request form: component `<kind>-Input`, where the kind is optional if no other kind is possible. */
export function inputOfKind<K extends string, P extends TProperties>(kind: K, properties: P) {
  return object(`${kind}-Input`, {
    ...properties,
    kind: Type.Optional(Type.Literal(kind, { impliedDefault: kind })),
  });
}

/** The request form of a safety setting: it rejects unlisted properties. */
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

/** A reference to a named schema. */
export function ref<T extends TSchema>(schema: T, options: TSchemaOptions = {}) {
  return Type.Unsafe<Static<T>>(Type.Ref(nameOf(schema), options));
}

/** A reference by component name, for schemas that are defined later (recursive ones). */
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

/** An optional nullable field, left as the writer gave it, because events are sent without empty fields. */
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

/** A JSON object of unspecified shape. */
export function anyObject(options: TSchemaOptions = {}) {
  return Type.Unsafe<Record<string, unknown>>({ ...options, type: "object", additionalProperties: true });
}

/** Text that may be a credential; never shown again once sent. */
export function credential() {
  return Type.Union([Type.String(), Type.String({ format: "password", writeOnly: true })]);
}

/** The component name of a named schema. */
export function nameOf(schema: TSchema): string {
  const { $id } = schema as { $id?: string };
  if ($id === undefined) throw new Error("The schema has no name: build it with one of the named builders.");
  return $id;
}
