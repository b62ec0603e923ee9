import type { TSchema } from "typebox";
import { allSchemas } from "../schemas.ts";
import { alsoRead } from "./also-read.ts";
import { otherNames, withoutEffect } from "./field-notes.ts";
import { nearMiss } from "./near-miss.ts";
import type { Location } from "./describe-errors.ts";

/** A field of a body without effect. `meant`: the existing field with a similar name. */
export type UnusedField = { readonly loc: Location; readonly meant: string | null };

type Json = Record<string, unknown>;

/** Maximum number of reported fields. */
const maxFields = 50;

/**
 * The fields of a body, as sent, that the schema lacks or that have no effect. Null, an empty text, list or object asks for nothing and is
 * not reported; a field with a name similar to an existing one always is.
 */
export function findUnusedFields(schema: TSchema, value: unknown, prefix: Location = []): UnusedField[] {
  const found: UnusedField[] = [];
  visit([schema as unknown as Json], value, prefix, found);
  return found;
}

/** `forms`: the possible schemas of the value; a field of any of them is known. */
function visit(forms: readonly Json[], value: unknown, loc: Location, found: UnusedField[]): void {
  if (typeof value !== "object" || value === null || found.length >= maxFields) return;
  const possible = forms.flatMap(alternatives);
  if (Array.isArray(value)) {
    const items = possible.flatMap(({ items: part }) => (isObject(part) ? [part] : []));
    if (items.length > 0) value.forEach((item, at) => visit(items, item, [...loc, at], found));
    return;
  }
  const objects = possible.filter((form) => isMeant(form, value as Json));
  visitObject(objects, value as Json, loc, found);
}

function visitObject(objects: readonly Json[], value: Json, loc: Location, found: UnusedField[]): void {
  const maps = objects.flatMap(({ additionalProperties: part }) => (isObject(part) ? [part] : []));
  const fields = fieldsOf(objects);
  const isFree = objects.length === 0 || objects.some((form) => isFreeForm(form));
  for (const [name, part] of Object.entries(value)) {
    const known = fields.get(name) ?? (maps.length > 0 ? maps : undefined);
    const at = [...loc, name];
    if (known !== undefined) {
      if (isWithoutEffect(objects, name, part)) found.push({ loc: at, meant: null });
      else visit(known, part, at, found);
    } else if (!isFree) {
      const meant = isOtherName(objects, name) ? null : nearMiss(name, fields.keys());
      if (meant !== null || !isEmpty(part)) found.push({ loc: at, meant });
    }
    if (found.length >= maxFields) return;
  }
}

/** A schema without references and choices. */
function alternatives(form: Json): Json[] {
  const { $ref: name, anyOf, oneOf, ...rest } = form;
  if (typeof name === "string") return alternatives(allSchemas.get(name) as unknown as Json);
  const branches = [anyOf, oneOf].flatMap((part) => (Array.isArray(part) ? (part as Json[]) : []));
  return branches.length === 0 ? [rest] : branches.flatMap(alternatives);
}

/** The branches of a choice that the value's tag does not exclude. */
function isMeant({ type, properties }: Json, value: Json): boolean {
  if (type !== undefined && type !== "object") return false;
  if (!isObject(properties)) return true;
  return ["kind", "type"].every((tag) => {
    const wanted = isObject(properties[tag]) ? properties[tag]["const"] : undefined;
    return wanted === undefined || value[tag] === undefined || value[tag] === wanted;
  });
}

function fieldsOf(objects: readonly Json[]): ReadonlyMap<string, Json[]> {
  const fields = new Map<string, Json[]>();
  for (const { properties, $id } of objects) {
    const more = notesOf(alsoRead, $id) as Json | undefined;
    for (const [name, part] of [...entriesOf(properties), ...entriesOf(more)]) {
      fields.set(name, [...(fields.get(name) ?? []), part as Json]);
    }
  }
  return fields;
}

/** A schema whose fields are unspecified. */
function isFreeForm({ $id, properties, additionalProperties }: Json): boolean {
  return !isObject(properties) && !isObject(additionalProperties) && notesOf(alsoRead, $id) === undefined;
}

function isWithoutEffect(objects: readonly Json[], name: string, value: unknown): boolean {
  return !isEmpty(value) && objects.some(({ $id }) => notesOf(withoutEffect, $id)?.[name]?.(value) === false);
}

function isOtherName(objects: readonly Json[], name: string): boolean {
  return objects.some(({ $id }) => notesOf(otherNames, $id)?.includes(name));
}

function notesOf<T>(notes: Readonly<Record<string, T>>, id: unknown): T | undefined {
  return typeof id === "string" && Object.hasOwn(notes, id) ? notes[id] : undefined;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
