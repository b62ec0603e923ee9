import type { SettingsFieldSchema, SettingsSchema } from "@convoke/protocol";
import { asRecord, type UnknownRecord } from "@convoke/client/view";

/** The value of a field; null if nothing is stored. */
export type FieldValue = string | number | boolean | null;

/** Sections with a page of their own, and sections that this server only stores for other clients. */
const elsewhere = new Set(["llm", "mcp"]);

/** The fields that the form supports, by section; lists, objects and secrets are left out. */
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
  // The critic and memory settings are stored only for other servers.
  if (key.startsWith("verification.") || key.endsWith(".load_memory")) return false;
  return !secret && type !== "array" && type !== "object";
}

/** The value at the dotted key, else the default. */
export function valueAt(settings: UnknownRecord, { key, default: usual }: SettingsFieldSchema): FieldValue {
  let at: unknown = settings;
  for (const part of key.split(".")) at = asRecord(at)?.[part];
  return asValue(at) ?? asValue(usual);
}

function asValue(value: unknown): FieldValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}

/** A patch that sets one field. */
export function changeOf({ key }: SettingsFieldSchema, value: FieldValue): UnknownRecord {
  return key.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as UnknownRecord;
}

/** A field that has no translation, of a newer server, stays as the server says it. */
export function translated(
  field: SettingsFieldSchema,
  labels: Readonly<Record<string, string>>,
): SettingsFieldSchema {
  const { key, label, choices } = field;
  return {
    ...field,
    label: labels[key] ?? label,
    choices: choices.map((choice) => ({
      ...choice,
      label: labels[`${key}=${String(choice.value)}`] ?? choice.label,
    })),
  };
}
