import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider, type ClientMetadata } from "oidc-provider";

/** Claims of a person besides `sub`. */
export type Person = Readonly<Record<string, unknown>>;

export type CertifiedProvider = AsyncDisposable & {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Registers the only client. To be called once, before the first request. */
  register(redirectUri: string, client?: Partial<ClientMetadata>): void;
  /** Who logs in next, without a question; null declines. */
  person: string | null;
  /** By subject. */
  readonly people: Map<string, Person>;
};

/** A provider of the library `oidc-provider` on 127.0.0.1, at which a person logs in without a form. */
export async function startCertifiedProvider(): Promise<CertifiedProvider> {
  let provider: Provider | null = null;
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [clientId, clientSecret] = ["convoke", randomBytes(16).toString("hex")];
  const people = new Map<string, Person>();

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (provider === null) throw new Error("No client is registered.");
    if (request.url?.startsWith("/log-in/") !== true) return await provider.callback()(request, response);
    const result =
      opened.person === null ? { error: "access_denied" } : { login: { accountId: opened.person } };
    await provider.interactionFinished(request, response, result);
  }

  const opened: CertifiedProvider = {
    issuer,
    clientId,
    clientSecret,
    people,
    person: null,
    register(redirectUri, client = {}) {
      const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
      provider = new Provider(issuer, {
        clients: [
          {
            client_id: clientId,
            client_secret: clientSecret,
            redirect_uris: [redirectUri],
            post_logout_redirect_uris: [new URL("/login", redirectUri).href],
            ...client,
          },
        ],
        jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] },
        cookies: { keys: ["test"] },
        claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
        ttl: { AccessToken: 60, Grant: 3600, IdToken: 3600, Interaction: 600, Session: 3600 },
        pkce: { required: () => true },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_context, { uid }) => `/log-in/${uid}` },
        findAccount: (_context, id) => ({
          accountId: id,
          claims: () => ({ sub: id, ...people.get(id) }),
        }),
        loadExistingGrant: async ({ oidc }) => {
          if (oidc.client === undefined || oidc.session?.accountId === undefined) return undefined;
          const known = oidc.session.grantIdFor(oidc.client.clientId);
          const stored = known === undefined ? undefined : await provider!.Grant.find(known);
          if (stored !== undefined) return stored;
          const grant = new provider!.Grant({
            clientId: oidc.client.clientId,
            accountId: oidc.session.accountId,
          });
          grant.addOIDCScope("openid email profile");
          await grant.save();
          return grant;
        },
      });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return opened;
}
