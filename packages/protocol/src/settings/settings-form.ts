import { Type, type Static } from "typebox";
import { choice, object, orAbsent, ref } from "../schema.ts";

/** One option of a field. */
export const SettingsChoice = object("SettingsChoice", {
  value: Type.Unsafe<boolean | number | string>({ type: ["boolean", "number", "string"] }),
  label: Type.String(),
});
export type SettingsChoice = Static<typeof SettingsChoice>;

/** One field of a settings form; `key` is its path below the settings. */
export const SettingsFieldSchema = object("SettingsFieldSchema", {
  key: Type.String(),
  label: Type.String(),
  description: orAbsent(Type.String()),
  section: Type.String(),
  section_label: Type.String(),
  value_type: choice(["string", "integer", "number", "boolean", "array", "object"]),
  default: Type.Optional(Type.Unknown()),
  prominence: choice(["critical", "major", "minor"]),
  depends_on: Type.Array(Type.String()),
  secret: Type.Boolean(),
  choices: Type.Array(ref(SettingsChoice)),
});
export type SettingsFieldSchema = Static<typeof SettingsFieldSchema>;

/** A group of fields. */
export const SettingsSectionSchema = object("SettingsSectionSchema", {
  key: Type.String(),
  label: Type.String(),
  fields: Type.Array(ref(SettingsFieldSchema)),
});
export type SettingsSectionSchema = Static<typeof SettingsSectionSchema>;

/** A form for settings. */
export const SettingsSchema = object("SettingsSchema", {
  model_name: Type.String(),
  sections: Type.Array(ref(SettingsSectionSchema)),
});
export type SettingsSchema = Static<typeof SettingsSchema>;
