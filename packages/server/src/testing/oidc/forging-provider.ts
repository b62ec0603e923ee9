import { generateKeyPairSync, randomUUID, sign, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Json = Readonly<Record<string, unknown>>;

/** What the provider does wrong; what is left out is right. */
export type Forgery = {
  /** Changes the description of the provider. */
  readonly describe?: (description: Json) => Json;
  /** Changes the claims of the ID token. */
  readonly claims?: (claims: Json) => Json;
  /** Changes the header of the ID token. */
  readonly header?: (header: Json) => Json;
  /** `none` leaves the signature empty, `other` signs with a key that is not published. */
  readonly signature?: "none" | "other";
  /** Changes the parameters with which the browser is sent back. */
  readonly sendBack?: (parameters: URLSearchParams) => void;
  /** Replaces the answer at a path by a body, a status, or none. */
  readonly answers?: Readonly<Record<string, string | { readonly status: number } | null>>;
};

export type ForgingProvider = AsyncDisposable & {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  forgery: Forgery;
  /** What the ID token says of a person, and what user info says besides. */
  claims: Json;
  moreClaims: Json;
  /** Paths of the requests, in order. */
  readonly requests: string[];
};

/** An identity provider on 127.0.0.1 that does what a hostile one could do. It asks no person. */
export async function startForgingProvider(): Promise<ForgingProvider> {
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const otherKeys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const nonces = new Map<string, string | null>();
  const requests: string[] = [];
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { pathname, searchParams } = new URL(request.url ?? "/", issuer);
    requests.push(pathname);
    const forged = opened.forgery.answers?.[pathname];
    if (forged === null) return;
    if (typeof forged === "object") return void response.writeHead(forged.status).end();
    if (forged !== undefined) return json(response, forged);
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return json(response, JSON.stringify((opened.forgery.describe ?? same)(description(issuer))));
      case "/jwks":
        return json(
          response,
          JSON.stringify({ keys: [{ ...keys.publicKey.export({ format: "jwk" }), kid: "1" }] }),
        );
      case "/authorize":
        return sendBack(searchParams, response);
      case "/token":
        return json(response, tokens(new URLSearchParams(body).get("code") ?? ""));
      case "/userinfo":
        return json(response, JSON.stringify({ sub: opened.claims["sub"], ...opened.moreClaims }));
      default:
        return void response.writeHead(404).end();
    }
  }

  function sendBack(asked: URLSearchParams, response: ServerResponse): void {
    const code = randomUUID();
    nonces.set(code, asked.get("nonce"));
    const address = new URL(asked.get("redirect_uri")!);
    address.searchParams.set("code", code);
    address.searchParams.set("state", asked.get("state")!);
    opened.forgery.sendBack?.(address.searchParams);
    response.writeHead(302, { location: address.href }).end();
  }

  function tokens(code: string): string {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: opened.clientId,
      iat: now,
      exp: now + 3600,
      nonce: nonces.get(code),
      ...opened.claims,
    };
    const { header = same, claims: change = same, signature } = opened.forgery;
    const key = signature === "none" ? null : (signature === "other" ? otherKeys : keys).privateKey;
    const token = toToken(header({ alg: "RS256", kid: "1" }), change(claims), key);
    return JSON.stringify({
      access_token: "canary-access",
      token_type: "Bearer",
      expires_in: 60,
      id_token: token,
    });
  }

  const opened: ForgingProvider = {
    issuer,
    clientId: "convoke",
    clientSecret: "canary-client-secret",
    forgery: {},
    claims: { sub: "ada" },
    moreClaims: {},
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return opened;
}

function description(issuer: string): Json {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    authorization_response_iss_parameter_supported: false,
  };
}

function toToken(header: Json, claims: Json, key: KeyObject | null): string {
  const encode = (part: Json): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${key === null ? "" : sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
}

function same(value: Json): Json {
  return value;
}

function json(response: ServerResponse, text: string): void {
  response.writeHead(200, { "content-type": "application/json" }).end(text);
}
