import type { SettingsFieldSchema, SettingsSchema } from "@convoke/protocol";
import { asRecord, type UnknownRecord } from "../lib/unknown-record.ts";

/** What a field of a form holds; null where nothing is stored. */
export type FieldValue = string | number | boolean | null;

/** Parts of the settings that have a page of their own, and those that this server only keeps for others. */
const elsewhere = new Set(["llm", "mcp"]);

/** The fields that a form can draw, by their sections; of lists, objects and secrets nothing is shown. */
export function drawnSections(schema: SettingsSchema): readonly {
  readonly key: string;
  readonly label: string;
  readonly fields: readonly SettingsFieldSchema[];
}[] {
  return schema.sections
    .filter(({ key }) => !elsewhere.has(key))
    .map(({ key, label, fields }) => ({ key, label, fields: fields.filter(isDrawn) }))
    .filter(({ fields }) => fields.length > 0);
}

function isDrawn({ value_type: type, secret, key }: SettingsFieldSchema): boolean {
  // The critic of the settings, and the memory, are kept for other servers alone.
  if (key.startsWith("verification.") || key.endsWith(".load_memory")) return false;
  return !secret && type !== "array" && type !== "object";
}

/** The value below its dotted key, else the field's usual one. */
export function valueAt(settings: UnknownRecord, { key, default: usual }: SettingsFieldSchema): FieldValue {
  let at: unknown = settings;
  for (const part of key.split(".")) at = asRecord(at)?.[part];
  return asValue(at) ?? asValue(usual);
}

function asValue(value: unknown): FieldValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}

/** A change of one field, to be merged into the settings. */
export function changeOf({ key }: SettingsFieldSchema, value: FieldValue): UnknownRecord {
  return key.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as UnknownRecord;
}
