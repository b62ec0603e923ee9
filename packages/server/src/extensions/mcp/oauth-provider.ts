import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { McpOAuth } from "./mcp-server.ts";

/** What an authorization has brought so far, in the form that clients store. */
export type OAuthState = {
  tokens?: StoredOAuthTokens;
  client_info?: StoredOAuthClientInformation;
};

export type OAuthProviderDeps = McpOAuth & {
  /** Where a person's browser is sent back to; null where nobody can be asked. */
  readonly redirectUrl: string | null;
  /** Called with the address at which a person can give their consent. */
  readonly onAuthorize: (url: URL) => void;
  readonly stateToken?: string;
};

/** The credentials of one remote server, kept in memory: tokens are refreshed as long as the server lets us. */
export class OAuthProvider implements OAuthClientProvider {
  readonly #deps: OAuthProviderDeps;
  readonly #state: OAuthState;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;

  constructor(deps: OAuthProviderDeps) {
    this.#deps = deps;
    const { tokens, client_info: client } = deps.state as OAuthState;
    this.#state = {
      ...(tokens?.access_token ? { tokens } : {}),
      ...(client?.client_id ? { client_info: client } : {}),
    };
  }

  get current(): OAuthState {
    return this.#state;
  }

  get redirectUrl(): string | undefined {
    return this.#deps.redirectUrl ?? undefined;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { authentication, redirectUrl } = this.#deps;
    const {
      scopes,
      client_name: name,
      client_auth_method: method,
      additional_client_metadata: more,
    } = authentication;
    const scope = Array.isArray(scopes) ? scopes.join(" ") : typeof scopes === "string" ? scopes : undefined;
    return {
      client_name: typeof name === "string" && name !== "" ? name : "Convoke",
      redirect_uris: redirectUrl === null ? [] : [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: typeof method === "string" ? method : "none",
      ...(scope === undefined ? {} : { scope }),
      ...(typeof more === "object" ? more : {}),
    };
  }

  state(): string {
    return this.#deps.stateToken ?? "";
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    const { client_id: id, client_secret: secret } = this.#deps.authentication;
    if (typeof id === "string" && id !== "") {
      return {
        client_id: id,
        ...(typeof secret === "string" && secret !== "" ? { client_secret: secret } : {}),
      };
    }
    return this.#state.client_info;
  }

  saveClientInformation(information: StoredOAuthClientInformation): void {
    this.#state.client_info = information;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#state.tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#state.tokens = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.#deps.onAuthorize(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): void {
    if (scope === "all" || scope === "tokens") delete this.#state.tokens;
    if (scope === "all" || scope === "client") delete this.#state.client_info;
    if (scope === "all" || scope === "discovery") this.#discovery = undefined;
  }
}
