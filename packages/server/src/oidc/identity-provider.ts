import type { Configuration } from "openid-client";
import type { LoginState } from "../settings/login-states.ts";
import { createBoundedFetch, ProviderUnreachable } from "./bounded-fetch.ts";
import { LoginRefused } from "./login-refused.ts";
import type { OidcSettings } from "./oidc-settings.ts";

type Library = typeof import("openid-client");

/** What the provider answered: what it says of a person, and the token that says so. */
export type ProviderAnswer = { readonly claims: ProvenClaims; readonly idToken: string };

/** What the provider says of a person, proven by its signature. */
export type ProvenClaims = Readonly<Record<string, unknown>> & {
  readonly iss: string;
  readonly sub: string;
  /** The end of the ID token, in epoch seconds. */
  readonly exp: number;
};

export type IdentityProviderDeps = {
  readonly settings: OidcSettings;
  /** Of each request to the provider; ten seconds unless given. */
  readonly timeoutMs?: number | undefined;
};

/** Addresses and algorithms of a provider change seldom; keys are read again when an unknown one signs. */
const readAgainMs = 3_600_000;

/**
 * The client of one identity provider: authorization code flow with PKCE, state and nonce. Its library is loaded at the
 * first login. Everything rejects with {@link LoginRefused}.
 */
export class IdentityProvider {
  readonly #settings: OidcSettings;
  readonly #timeoutMs: number;
  #read: { readonly atMs: number; readonly opened: Promise<Opened> } | null = null;

  constructor({ settings, timeoutMs = 10_000 }: IdentityProviderDeps) {
    this.#settings = settings;
    this.#timeoutMs = timeoutMs;
  }

  /** What a new login is kept with; reads the provider's description, so that nothing is kept when it is away. */
  async prepare(): Promise<Pick<LoginState, "issuer" | "verifier" | "nonce">> {
    const { library, configuration } = await this.#open();
    return {
      issuer: configuration.serverMetadata().issuer,
      verifier: library.randomPKCECodeVerifier(),
      nonce: library.randomNonce(),
    };
  }

  /** Where the person logs in. */
  async authorizationUrl(state: string, { redirectUri, verifier, nonce }: LoginState): Promise<URL> {
    const { library, configuration } = await this.#open();
    return library.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.#settings.scopes,
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
  }

  /** Exchanges the code in the address to which the provider has sent the browser. */
  async readAnswer(answer: URLSearchParams, state: string, begun: LoginState): Promise<ProviderAnswer> {
    const { library, configuration } = await this.#open();
    if (configuration.serverMetadata().issuer !== begun.issuer)
      throw new LoginRefused("expired", "The login was begun at another provider.");
    const address = new URL(begun.redirectUri);
    address.search = answer.toString();
    try {
      const tokens = await library.authorizationCodeGrant(configuration, address, {
        pkceCodeVerifier: begun.verifier,
        expectedState: state,
        expectedNonce: begun.nonce,
        idTokenExpected: true,
      });
      const proven = tokens.claims() as ProvenClaims;
      const isComplete = isThere(proven, this.#settings.claim) && proven["email"] !== undefined;
      const idToken = tokens.id_token ?? "";
      if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined)
        return { claims: proven, idToken };
      const more = await library.fetchUserInfo(configuration, tokens.access_token, proven.sub);
      return { claims: { ...more, ...proven }, idToken };
    } catch (error) {
      throw toRefusal(library, error);
    }
  }

  /** Where a person logs out, and is sent back from; null where the provider has no such place. */
  async logoutUrl(idToken: string, returnTo: string): Promise<URL | null> {
    const { library, configuration } = await this.#open();
    const { end_session_endpoint: place } = configuration.serverMetadata();
    if (place === undefined) return null;
    try {
      return library.buildEndSessionUrl(configuration, {
        id_token_hint: idToken,
        post_logout_redirect_uri: returnTo,
      });
    } catch (error) {
      throw toRefusal(library, error);
    }
  }

  async #open(): Promise<Opened> {
    const nowMs = performance.now();
    if (this.#read === null || nowMs - this.#read.atMs > readAgainMs) {
      const reading = { atMs: nowMs, opened: this.#discover() };
      this.#read = reading;
      // A failure is told to those who wait for it; the next login tries again.
      reading.opened.catch(() => {
        if (this.#read === reading) this.#read = null;
      });
    }
    return await this.#read.opened;
  }

  async #discover(): Promise<Opened> {
    const library = await import("openid-client");
    const { issuer, clientId, clientSecret } = this.#settings;
    const server = new URL(issuer);
    const isPlain = server.protocol === "http:";
    try {
      const configuration = await library.discovery(
        server,
        clientId,
        undefined,
        (as, client, body, headers) => {
          const methods = as.token_endpoint_auth_methods_supported;
          // Without a list it is this one (OpenID Connect Discovery, 3).
          const isBasic = methods?.includes("client_secret_basic") ?? true;
          const authenticate = isBasic ? library.ClientSecretBasic : library.ClientSecretPost;
          return authenticate(clientSecret)(as, client, body, headers);
        },
        {
          timeout: this.#timeoutMs / 1000,
          execute: [library.enableNonRepudiationChecks, ...(isPlain ? [library.allowInsecureRequests] : [])],
          [library.customFetch]: createBoundedFetch({
            timeoutMs: this.#timeoutMs,
            plainHost: isPlain ? server.hostname : null,
          }),
        },
      );
      return { library, configuration };
    } catch (error) {
      throw toRefusal(library, error);
    }
  }
}

type Opened = { readonly library: Library; readonly configuration: Configuration };

/** Whether a claim is there, by its name or by the first name of its path. */
function isThere(claims: ProvenClaims, claim: string): boolean {
  return claims[claim] !== undefined || claims[claim.split(".", 1)[0]!] !== undefined;
}

/** The library's errors hold answers and tokens: only their fixed sentences and codes are taken. */
function toRefusal(library: Library, error: unknown): LoginRefused {
  if (error instanceof LoginRefused) return error;
  for (let one: unknown = error; one instanceof Error; one = one.cause)
    if (one instanceof ProviderUnreachable) return new LoginRefused("unreachable", one.message);
  if (error instanceof library.AuthorizationResponseError) {
    const code = error.error === "access_denied" ? "declined" : "invalid_answer";
    return new LoginRefused(code, `The provider sent the browser back with: ${bounded(error.error)}`);
  }
  if (error instanceof library.ResponseBodyError)
    return new LoginRefused(
      "invalid_answer",
      `The provider refused the request with: ${bounded(error.error)}`,
    );
  if (!(error instanceof Error))
    return new LoginRefused("invalid_answer", "The provider's answer is not valid.");
  const reason = error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
  return new LoginRefused("invalid_answer", `The provider's answer is not valid: ${bounded(reason)}`);
}

function bounded(text: string): string {
  return text.slice(0, 200);
}
