import type { ProviderType, SecretSource } from "@convoke/protocol";
import { isBound, minBoundValueChars, secretPlaces } from "../../egress/check-secret-binding.ts";
import type { BoundSecret } from "../../egress/egress.ts";
import { secretsFor } from "../../egress/bound-secrets.ts";
import { formatTarget, type Target } from "../../lib/host-name.ts";
import { createPlaceholder } from "../../security/placeholder.ts";
import type { SecretStore } from "../../settings/secret-store.ts";
import type { StoredSettings } from "../../settings/stored-settings.ts";

export type LoginSources = {
  /** Of the request. */
  readonly given: Readonly<Record<string, SecretSource>>;
  readonly stored: Awaited<ReturnType<SecretStore["values"]>>;
  readonly tokens: StoredSettings["providerTokens"];
};

/** Where the stored token of a provider belongs that has no host of its own. */
const providerHosts: Partial<Record<ProviderType, string>> = {
  github: "github.com",
  gitlab: "gitlab.com",
  bitbucket: "bitbucket.org",
};

/**
 * What git logs in with at this host: a secret of the request or a stored one that is bound to it, otherwise the token of its provider.
 * Null for none. An unbound secret goes to no host.
 */
export function findLogin(target: Target, { given, stored, tokens }: LoginSources): BoundSecret | null {
  const values = [
    ...Object.entries(given).flatMap(([name, source]) =>
      source.kind === "StaticSecret" ? [{ ...source, name, value: source.value ?? "" }] : [],
    ),
    ...Object.entries(stored).map(([name, secret]) => ({ ...secret, name })),
  ];
  const bound = values.flatMap((secret): BoundSecret[] => {
    const { name, value } = secret;
    const as = secretPlaces(secret);
    if (!isBound(secret) || !as.includes("basic")) return [];
    return [{ name, value, placeholder: createPlaceholder(name, null), hosts: secret.hosts ?? [], as }];
  });
  const ofProviders = Object.entries(tokens).flatMap(([provider, { token, host }]): BoundSecret[] => {
    const usual = host || providerHosts[provider as ProviderType];
    if (!token || usual === undefined) return [];
    return [
      {
        name: `token of ${provider}`,
        value: token.slice(token.indexOf(":") + 1),
        placeholder: createPlaceholder(provider, null),
        hosts: [usual.replace(/^https:\/\//, "").replace(/\/$/, "")],
        as: ["basic"],
      },
    ];
  });
  const found = secretsFor([...bound, ...ofProviders], target).find(
    ({ value }) => value.trim().length >= minBoundValueChars,
  );
  // The host is known, so that nothing else can ever get it.
  return found === undefined ? null : { ...found, hosts: [formatTarget(target)], as: ["basic"] };
}
