import type { Clock } from "../lib/clock.ts";
import { IdentityProvider } from "../oidc/identity-provider.ts";
import { OidcLogins } from "../oidc/oidc-logins.ts";
import type { OidcSettings } from "../oidc/oidc-settings.ts";
import { IdentityStore } from "../settings/identity-store.ts";
import type { KeyStore } from "../settings/key-store.ts";
import { LoginStates } from "../settings/login-states.ts";
import type { LoginStore } from "../settings/login-store.ts";
import type { Store } from "./store.ts";

export type OpenOidcDeps = {
  readonly settings: OidcSettings;
  readonly store: Pick<Store, "database" | "secretBox">;
  readonly keyStore: Pick<KeyStore, "users">;
  readonly logins: LoginStore;
  readonly clock: Clock;
};

/** Nothing is asked of the provider before the first login. */
export function openOidc({ settings, store, keyStore, logins, clock }: OpenOidcDeps): OidcLogins {
  const { database, secretBox } = store;
  return new OidcLogins({
    settings,
    provider: new IdentityProvider({ settings }),
    states: new LoginStates({ database, secretBox, clock }),
    identities: new IdentityStore({ database, users: keyStore.users, clock }),
    logins,
    secretBox,
    clock,
  });
}
