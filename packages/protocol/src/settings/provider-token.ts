import { Type, type Static } from "typebox";
import { choice, closedObject, object, orAbsent, ref } from "../schema.ts";
import { MCPConfigUpdate } from "./mcp-config.ts";

const providers = [
  "github",
  "gitlab",
  "bitbucket",
  "bitbucket_data_center",
  "forgejo",
  "azure_devops",
  "enterprise_sso",
] as const;

/** Providers of repositories. */
export const ProviderType = choice([...providers], { $id: "ProviderType" });
export type ProviderType = (typeof providers)[number];

/** Access to one provider; an absent, empty or masked token leaves the stored one. */
export const ProviderToken = object("ProviderToken", {
  token: orAbsent(Type.String({ format: "password", writeOnly: true, maxLength: 65_536 })),
  user_id: orAbsent(Type.String()),
  host: orAbsent(Type.String()),
});
export type ProviderToken = Static<typeof ProviderToken>;

const token = Type.Optional(ref(ProviderToken));

/** Tokens by provider. */
export const ProviderTokens = closedObject("ProviderTokens", {
  github: token,
  gitlab: token,
  bitbucket: token,
  bitbucket_data_center: token,
  forgejo: token,
  azure_devops: token,
  enterprise_sso: token,
} satisfies Record<ProviderType, typeof token>);
export type ProviderTokens = Static<typeof ProviderTokens>;

/** Tokens to add or change; other providers stay. */
export const POSTProviderModel = object("POSTProviderModel", {
  mcp_config: orAbsent(ref(MCPConfigUpdate)),
  provider_tokens: Type.Optional(ref(ProviderTokens)),
});
export type POSTProviderModel = Static<typeof POSTProviderModel>;
