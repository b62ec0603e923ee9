import type { UserRole } from "@convoke/protocol";
import { markOfKey } from "../settings/login-store.ts";

/** The identity provider at which people log in, and who of them is let in. */
export type OidcSettings = {
  /** As the provider spells it; http only on this machine. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What the page calls the provider. */
  readonly name: string;
  /** Separated by spaces. */
  readonly scopes: string;
  /** The claim with the groups or roles of a person: a name, or a path with dots in it. */
  readonly claim: string;
  /** By value of the claim; `*` is for everybody. Who has several gets the greatest role. */
  readonly roles: ReadonlyMap<string, UserRole>;
  /** E-mail domains that are let in, in lower case; empty: all. */
  readonly domains: readonly string[];
  /** Logging out here also logs out at the provider. */
  readonly isLogoutThere: boolean;
  /** How long a login lasts; null: until the end of the ID token, at most {@link maxLoginMs}. */
  readonly loginMs: number | null;
};

export const maxLoginMs = 12 * 3_600_000;

/** Logins that the provider began end with this mark: when the server has another provider, or none. */
export function markOfProvider({ issuer, clientId }: OidcSettings): string {
  return markOfKey(JSON.stringify(["oidc", issuer, clientId]));
}
