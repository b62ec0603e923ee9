import { Type, type Static } from "typebox";
import { secretBindingFields } from "../extensions/secret-extensions.ts";
import { object, orAbsent, orNull, ref } from "../schema.ts";

const name = Type.String({ maxLength: 128 });
const description = orAbsent(Type.String({ maxLength: 4_096 }));

/** A secret in a request. */
export const CustomSecretModel = object("CustomSecretModel", {
  name,
  description,
  value: Type.String({ format: "password", writeOnly: true, minLength: 1, maxLength: 65_536 }),
  ...secretBindingFields,
});
export type CustomSecretModel = Static<typeof CustomSecretModel>;

/** A secret without its value, for lists and renaming. */
export const CustomSecretWithoutValueModel = object("CustomSecretWithoutValueModel", {
  name,
  description: orNull(Type.String({ maxLength: 4_096 })),
  ...secretBindingFields,
});
export type CustomSecretWithoutValueModel = Static<typeof CustomSecretWithoutValueModel>;

/** New name, description and hosts of a secret; what is absent stays. */
export const CustomSecretUpdate = object("CustomSecretUpdate", {
  name,
  description,
  ...secretBindingFields,
});
export type CustomSecretUpdate = Static<typeof CustomSecretUpdate>;

/** All secrets by name. */
export const GETCustomSecrets = object("GETCustomSecrets", {
  custom_secrets: Type.Array(ref(CustomSecretWithoutValueModel)),
});
export type GETCustomSecrets = Static<typeof GETCustomSecrets>;

/** A page of secrets by name. */
export const CustomSecretPage = object("CustomSecretPage", {
  items: Type.Array(ref(CustomSecretWithoutValueModel)),
  next_page_id: orNull(Type.String()),
});
export type CustomSecretPage = Static<typeof CustomSecretPage>;

/** Confirmation as a sentence. */
export const EditResponse = object("EditResponse", { message: Type.String() });
export type EditResponse = Static<typeof EditResponse>;

/** Refusal in the form of the older routes. */
export const OldRefusal = object("OldRefusal", {
  message: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
});
export type OldRefusal = Static<typeof OldRefusal>;
