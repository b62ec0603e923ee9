import type { UserRole } from "@convoke/protocol";
import { SealError, type SecretBox } from "../security/seal.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdentityStore } from "../settings/identity-store.ts";
import type { LoginStates } from "../settings/login-states.ts";
import type { LoginStore } from "../settings/login-store.ts";
import { admit } from "./admit.ts";
import type { IdentityProvider, ProvenClaims } from "./identity-provider.ts";
import { LoginRefused } from "./login-refused.ts";
import { markOfProvider, maxLoginMs, type OidcSettings } from "./oidc-settings.ts";

export type OidcLoginsDeps = {
  readonly settings: OidcSettings;
  readonly provider: IdentityProvider;
  readonly states: LoginStates;
  readonly identities: IdentityStore;
  readonly logins: Pick<LoginStore, "createTicket">;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
};

export type LoginBeginning = {
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string;
  /** A path of the page. */
  readonly returnTo: string;
  /** The client's address. */
  readonly address: string;
};

/** Where the browser goes, and the secret that it has to bring back. */
export type BegunLogin = { readonly url: URL; readonly state: string; readonly browserSecret: string };

export type FinishedLogin = {
  readonly userId: string;
  readonly role: UserRole;
  readonly issuer: string;
  readonly subject: string;
  /** True when this login made the user. */
  readonly isNew: boolean;
  /** Becomes a login of the page, once and within minutes. */
  readonly ticket: string;
  readonly returnTo: string;
};

const maxIdToken = 6_000;

/** Logins at the identity provider, from the way there to a ticket. Everything rejects with {@link LoginRefused}. */
export class OidcLogins {
  readonly name: string;
  readonly #deps: OidcLoginsDeps;

  constructor(deps: OidcLoginsDeps) {
    this.#deps = deps;
    this.name = deps.settings.name;
  }

  async begin({ redirectUri, returnTo, address }: LoginBeginning): Promise<BegunLogin> {
    const { provider, states } = this.#deps;
    const login = { ...(await provider.prepare()), redirectUri, returnTo };
    const begun = await states.begin(login, address);
    if (begun === null) throw new LoginRefused("busy", "Too many logins wait for their browsers.");
    return { ...begun, url: await provider.authorizationUrl(begun.state, login) };
  }

  /** `browserSecrets` are those that the browser sent for this state. */
  async finish(answer: URLSearchParams, browserSecrets: readonly string[]): Promise<FinishedLogin> {
    const { provider, states, identities, logins, settings, clock } = this.#deps;
    const state = answer.get("state") ?? "";
    let begun = null;
    for (const browserSecret of browserSecrets) begun ??= await states.take(state, browserSecret);
    if (begun === null) throw new LoginRefused("expired", "No login of this browser has this state.");
    const { claims, idToken } = await provider.readAnswer(answer, state, begun);
    const { issuer, subject, role, name } = admit(claims, settings);
    const found = await identities.logIn({ issuer, subject, role, name });
    if (found === null) throw new LoginRefused("disabled", "The user is disabled.", { subject });
    const endsAtMs = this.#endOf(claims, clock.nowMs());
    const sealedIdToken = this.#sealIdToken(idToken);
    const owner = { userId: found.userId, keyMark: markOfProvider(settings), endsAtMs, sealedIdToken };
    const { ticket } = await logins.createTicket(owner);
    return { ...found, role, issuer, subject, ticket, returnTo: begun.returnTo };
  }

  /**
   * Where the browser of a login that has ended logs out at the provider, and `returnTo` is where it is sent back to. Null when logins end
   * here alone, or when the provider has no such place or does not answer: the login here has ended all the same.
   */
  async logoutUrl(sealedIdToken: string, returnTo: string): Promise<URL | null> {
    const { provider, secretBox, settings } = this.#deps;
    if (!settings.isLogoutThere) return null;
    try {
      return await provider.logoutUrl(secretBox.unseal(sealedIdToken), returnTo);
    } catch (error) {
      if (error instanceof LoginRefused || error instanceof SealError) return null;
      throw error;
    }
  }

  /** A browser's address would not hold a longer one. */
  #sealIdToken(idToken: string): string | undefined {
    const { secretBox, settings } = this.#deps;
    const isStored = settings.isLogoutThere && idToken !== "" && idToken.length <= maxIdToken;
    return isStored ? secretBox.seal(idToken) : undefined;
  }

  #endOf({ exp }: ProvenClaims, nowMs: number): number {
    const { loginMs } = this.#deps.settings;
    return Math.min(loginMs === null ? exp * 1000 : nowMs + loginMs, nowMs + maxLoginMs);
  }
}
