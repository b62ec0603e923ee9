import { Type, type Static } from "typebox";
import { secretBindingFields } from "../extensions/secret-extensions.ts";
import { closedInputOfKind, mapOf, object, orNull, outputOfKind, ref, unionByKind } from "../schema.ts";

const lookupFields = {
  description: orNull(Type.String()),
  url: Type.String(),
  headers: Type.Optional(mapOf(Type.String(), { impliedDefault: {} })),
  ...secretBindingFields,
};
const staticFields = {
  description: orNull(Type.String()),
  value: orNull(Type.String({ format: "password", writeOnly: true })),
  ...secretBindingFields,
};

/** A secret that is fetched when it is used. */
export const LookupSecret = outputOfKind("LookupSecret", lookupFields);
export type LookupSecret = Static<typeof LookupSecret>;
export const LookupSecretInput = closedInputOfKind("LookupSecret", lookupFields);
export type LookupSecretInput = Static<typeof LookupSecretInput>;

/** A secret given by value; replies never carry the value. */
export const StaticSecret = outputOfKind("StaticSecret", staticFields);
export type StaticSecret = Static<typeof StaticSecret>;
export const StaticSecretInput = closedInputOfKind("StaticSecret", staticFields);
export type StaticSecretInput = Static<typeof StaticSecretInput>;

/** Source of a secret's value. */
export const SecretSource = unionByKind("SecretSource-Output", {
  "openhands__sdk__secret__secrets__LookupSecret-Output__1": LookupSecret,
  "openhands__sdk__secret__secrets__StaticSecret-Output__1": StaticSecret,
});
export type SecretSource = Static<typeof SecretSource>;

export const SecretSourceInput = unionByKind("SecretSource-Input", {
  "openhands__sdk__secret__secrets__LookupSecret-Input__1": LookupSecretInput,
  "openhands__sdk__secret__secrets__StaticSecret-Input__1": StaticSecretInput,
});
export type SecretSourceInput = Static<typeof SecretSourceInput>;

/** The secrets of a conversation by name. */
export const SecretRegistry = object("SecretRegistry-Output", {
  secret_sources: Type.Optional(mapOf(ref(SecretSource), { impliedDefault: {} })),
});
export type SecretRegistry = Static<typeof SecretRegistry>;
export const SecretRegistryInput = object("SecretRegistry-Input", {
  secret_sources: Type.Optional(mapOf(ref(SecretSourceInput), { impliedDefault: {} })),
});
export type SecretRegistryInput = Static<typeof SecretRegistryInput>;
