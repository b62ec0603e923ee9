import type { OidcSettings } from "../../oidc/oidc-settings.ts";

type Client = { readonly issuer: string; readonly clientId: string; readonly clientSecret: string };

/** The settings of a server that lets in people of a provider: admins and staff by their groups. */
export function oidcSettingsOf(
  { issuer, clientId, clientSecret }: Client,
  given: Partial<OidcSettings> = {},
): OidcSettings {
  return {
    issuer,
    clientId,
    clientSecret,
    name: "Example ID",
    scopes: "openid email profile",
    claim: "groups",
    roles: new Map([
      ["admins", "admin"],
      ["staff", "member"],
      ["guests", "viewer"],
    ]),
    domains: [],
    isLogoutThere: true,
    loginMs: null,
    ...given,
  };
}
