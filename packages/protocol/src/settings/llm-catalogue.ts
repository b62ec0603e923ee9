import { Type, type Static } from "typebox";
import { closedObject, flag, mapOf, object, orAbsent, orNull, ref } from "../schema.ts";

/** Names of providers, which are the prefixes of model names. */
export const ProvidersResponse = object("ProvidersResponse", { providers: Type.Array(Type.String()) });
export type ProvidersResponse = Static<typeof ProvidersResponse>;

/** Names of models, as accepted in `model`. */
export const ModelsResponse = object("ModelsResponse", { models: Type.Array(Type.String()) });
export type ModelsResponse = Static<typeof ModelsResponse>;

/** Names of models without prefix, by provider. */
export const VerifiedModelsResponse = object("VerifiedModelsResponse", {
  models: mapOf(Type.Array(Type.String())),
});
export type VerifiedModelsResponse = Static<typeof VerifiedModelsResponse>;

/** A program on the server's machine that serves models. */
export const LocalModelServer = object("LocalModelServer", {
  name: Type.String({ description: "What people call the program.", examples: ["Ollama"] }),
  base_url: orNull(
    Type.String({ description: "For `llm.base_url`; null where the server knows the address." }),
  ),
  models: Type.Array(Type.String({ description: "For `llm.model`.", examples: ["ollama/qwen3:8b"] })),
});
export type LocalModelServer = Static<typeof LocalModelServer>;

/** The model servers that answer on the server's machine. */
export const LocalModelServersResponse = object("LocalModelServersResponse", {
  servers: Type.Array(ref(LocalModelServer)),
});
export type LocalModelServersResponse = Static<typeof LocalModelServersResponse>;

/** Models that a subscription gives. */
export const SubscriptionModelsResponse = object("SubscriptionModelsResponse", {
  vendor: Type.Optional(Type.String({ default: "openai" })),
  models: Type.Array(Type.String()),
});
export type SubscriptionModelsResponse = Static<typeof SubscriptionModelsResponse>;

/** Whether a subscription is connected. */
export const SubscriptionStatusResponse = object("SubscriptionStatusResponse", {
  vendor: Type.Optional(Type.String({ default: "openai" })),
  connected: Type.Boolean(),
  account_email: orNull(Type.String()),
  expires_at: orNull(Type.Integer()),
});
export type SubscriptionStatusResponse = Static<typeof SubscriptionStatusResponse>;

/** A pending login on another device. */
export const SubscriptionDevicePollRequest = object("SubscriptionDevicePollRequest", {
  device_code: Type.String(),
});
export type SubscriptionDevicePollRequest = Static<typeof SubscriptionDevicePollRequest>;

const name = Type.String({ minLength: 1, maxLength: 128 });
const key = Type.String({ minLength: 1, maxLength: 65_536, format: "password", writeOnly: true });
const address = orAbsent(Type.String({ maxLength: 2_048 }));

/** An address and key shared by several models; times are epoch seconds. */
export const ProviderConnectionResponse = object("ProviderConnectionResponse", {
  id: Type.String(),
  display_name: Type.String(),
  provider: Type.String(),
  base_url: orNull(Type.String()),
  created_at: Type.Integer(),
  updated_at: Type.Integer(),
  api_key_set: flag(false),
});
export type ProviderConnectionResponse = Static<typeof ProviderConnectionResponse>;

/** A connection to store. */
export const ProviderConnectionCreateRequest = closedObject("ProviderConnectionCreateRequest", {
  display_name: name,
  provider: Type.Optional(Type.String({ minLength: 1, maxLength: 128, default: "custom" })),
  api_key: key,
  base_url: address,
});
export type ProviderConnectionCreateRequest = Static<typeof ProviderConnectionCreateRequest>;

/** Changes to a connection; its key can be replaced, not removed. */
export const ProviderConnectionUpdateRequest = closedObject("ProviderConnectionUpdateRequest", {
  display_name: Type.Optional(name),
  provider: Type.Optional(name),
  api_key: Type.Optional(key),
  base_url: address,
});
export type ProviderConnectionUpdateRequest = Static<typeof ProviderConnectionUpdateRequest>;
