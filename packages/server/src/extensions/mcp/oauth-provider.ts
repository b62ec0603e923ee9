import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { McpLogin } from "../../settings/mcp-logins.ts";
import type { McpOAuth } from "./mcp-server.ts";
import { systemClock, type Clock } from "../../lib/clock.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";

/** The state of an authorization, in the form that clients store. */
export type OAuthState = {
  tokens?: StoredOAuthTokens;
  client_info?: StoredOAuthClientInformation;
  /** Epoch seconds. */
  token_expires_at?: number;
};

export type OAuthProviderDeps = McpOAuth & {
  /** Where a person's browser is sent back to. */
  readonly redirectUrl: string;
  /** Called with the address at which a person can give their consent. */
  readonly onAuthorize: (url: URL) => void;
  readonly stateToken?: string | undefined;
  /** Where refreshed tokens are stored; only in memory without it. */
  readonly login?: McpLogin | undefined;
  /** Gets every token in use, so that it can be masked. */
  readonly tokens?: Pick<Set<string>, "add"> | undefined;
  readonly clock?: Clock;
};

/** The credentials of one remote server; tokens are refreshed as long as the server allows. */
export class OAuthProvider implements OAuthClientProvider {
  readonly clientMetadataUrl?: string;
  readonly #deps: OAuthProviderDeps;
  #state: OAuthState;
  /** As JSON: what was read or written last. */
  #stored = "null";
  /** The write failed: the value here is newer until another process has written. */
  #isUnsaved = false;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;

  constructor(deps: OAuthProviderDeps) {
    this.#deps = deps;
    this.#state = usable(deps.state);
    const metadataUrl = textOf(deps.authentication["client_metadata_url"]);
    if (metadataUrl !== undefined) this.clientMetadataUrl = metadataUrl;
  }

  get current(): OAuthState {
    return this.#state;
  }

  get redirectUrl(): string {
    return this.#deps.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { authentication, redirectUrl } = this.#deps;
    const {
      scopes,
      client_name: name,
      client_auth_method: method,
      additional_client_metadata: more,
    } = authentication;
    const scope = Array.isArray(scopes) ? scopes.join(" ") : textOf(scopes);
    return {
      client_name: textOf(name) ?? "Convoke",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: textOf(method) ?? "none",
      ...(scope === undefined ? {} : { scope }),
      ...(typeof more === "object" ? more : {}),
    };
  }

  state(): string {
    return this.#deps.stateToken ?? "";
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const id = textOf(this.#deps.authentication["client_id"]);
    const secret = textOf(this.#deps.authentication["client_secret"]);
    if (id !== undefined) return withoutUndefined({ client_id: id, client_secret: secret });
    await this.#read();
    return this.#state.client_info;
  }

  async saveClientInformation(information: StoredOAuthClientInformation): Promise<void> {
    await this.#change({ client_info: information });
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    await this.#read();
    const { tokens } = this.#state;
    this.#publish(tokens);
    return tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    this.#publish(tokens);
    const { expires_in: seconds } = tokens;
    const now = (this.#deps.clock ?? systemClock).nowMs();
    const endsAt = seconds === undefined ? undefined : Math.floor(now / 1000) + seconds;
    await this.#change(withoutUndefined({ tokens, token_expires_at: endsAt }));
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

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    const { tokens, client_info: client, ...rest } = this.#state;
    const keepsTokens = scope !== "all" && scope !== "tokens";
    const keepsClient = scope !== "all" && scope !== "client";
    this.#state = {
      ...(keepsTokens ? rest : {}),
      ...withoutUndefined({
        tokens: keepsTokens ? tokens : undefined,
        client_info: keepsClient ? client : undefined,
      }),
    };
    if (!keepsTokens || !keepsClient) await this.#save();
    if (scope === "all" || scope === "discovery") this.#discovery = undefined;
  }

  async #read(): Promise<void> {
    const { login } = this.#deps;
    if (login === undefined) return;
    const stored = await login.read();
    const text = JSON.stringify(stored);
    if (this.#isUnsaved && text === this.#stored) return await this.#save();
    this.#isUnsaved = false;
    this.#stored = text;
    if (stored !== null) this.#state = usable(stored);
  }

  async #change(change: OAuthState): Promise<void> {
    this.#state = { ...this.#state, ...change };
    await this.#save();
  }

  async #save(): Promise<void> {
    this.#isUnsaved = true;
    await this.#deps.login?.write(this.#state);
    this.#isUnsaved = false;
    this.#stored = JSON.stringify(this.#state);
  }

  #publish(tokens: StoredOAuthTokens | undefined): void {
    if (tokens?.access_token) this.#deps.tokens?.add(tokens.access_token);
    if (tokens?.refresh_token) this.#deps.tokens?.add(tokens.refresh_token);
  }
}

/** Clients send back what they got, including empty fields. */
function usable(given: Readonly<Record<string, unknown>>): OAuthState {
  const { tokens, client_info: client, token_expires_at: expiresAt } = given as OAuthState;
  return withoutUndefined({
    tokens: tokens?.access_token ? tokens : undefined,
    client_info: client?.client_id ? client : undefined,
    token_expires_at: typeof expiresAt === "number" ? expiresAt : undefined,
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
