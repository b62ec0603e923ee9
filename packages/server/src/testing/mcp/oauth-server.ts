import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type OAuthMcpServer = AsyncDisposable & {
  readonly url: string;
  /** Grant types of all issued tokens, in order. */
  readonly grants: readonly string[];
  /** Reasons of refused token requests, in order. */
  readonly refusals: readonly string[];
  /** The newest tokens. */
  readonly tokens: { readonly access: string; readonly refresh: string };
  /** From now on the newest access token is refused; it can be refreshed. */
  expire(): void;
  /** Gives consent like a person in a browser; returns the redirect address. */
  consent(authorizationUrl: string): Promise<string>;
};

type Grant = { readonly challenge: string; readonly redirectUri: string; readonly clientId: string };

/** An MCP server over streamable HTTP and its authorization server: registration, PKCE, single-use refresh tokens. */
export async function startOAuthMcpServer(): Promise<OAuthMcpServer> {
  const grants: string[] = [];
  const refusals: string[] = [];
  const codes = new Map<string, Grant>();
  const clients = new Map<string, readonly string[]>();
  let tokens = { access: "", refresh: "" };
  let isExpired = true;

  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { pathname, searchParams } = new URL(request.url ?? "/", origin);
    switch (pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return reply(response, 200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
      case "/.well-known/oauth-authorization-server":
        return reply(response, 200, metadata(origin));
      case "/register": {
        const { redirect_uris: redirectUris } = JSON.parse(body) as { redirect_uris: string[] };
        const clientId = randomUUID();
        clients.set(clientId, redirectUris);
        return reply(response, 201, { ...JSON.parse(body), client_id: clientId });
      }
      case "/authorize":
        return authorize(searchParams, response);
      case "/token":
        return grant(new URLSearchParams(body), response);
      case "/mcp":
        return answer(request, response, body);
      default:
        return reply(response, 404, {});
    }
  }

  function authorize(params: URLSearchParams, response: ServerResponse): void {
    const [clientId, redirectUri] = [params.get("client_id") ?? "", params.get("redirect_uri") ?? ""];
    const isKnown = clients.get(clientId)?.includes(redirectUri) === true;
    if (!isKnown || params.get("code_challenge_method") !== "S256") return reply(response, 400, {});
    const code = randomUUID();
    codes.set(code, { challenge: params.get("code_challenge") ?? "", redirectUri, clientId });
    const back = new URL(redirectUri);
    back.searchParams.set("code", code);
    back.searchParams.set("state", params.get("state") ?? "");
    response.writeHead(302, { location: back.href }).end();
  }

  function grant(params: URLSearchParams, response: ServerResponse): void {
    const fault = params.get("grant_type") === "refresh_token" ? refreshFault(params) : codeFault(params);
    if (fault !== null) {
      refusals.push(fault);
      return reply(response, 400, { error: "invalid_grant", error_description: fault });
    }
    grants.push(params.get("grant_type") ?? "");
    tokens = { access: `access-${randomUUID()}`, refresh: `refresh-${randomUUID()}` };
    isExpired = false;
    const { access, refresh } = tokens;
    reply(response, 200, {
      access_token: access,
      refresh_token: refresh,
      token_type: "Bearer",
      expires_in: 60,
    });
  }

  function codeFault(params: URLSearchParams): string | null {
    const code = params.get("code") ?? "";
    const asked = codes.get(code);
    codes.delete(code);
    if (asked === undefined) return "unknown code";
    if (asked.redirectUri !== params.get("redirect_uri")) return "another redirect_uri";
    if (asked.clientId !== params.get("client_id")) return "another client";
    const challenge = createHash("sha256")
      .update(params.get("code_verifier") ?? "")
      .digest("base64url");
    return challenge === asked.challenge ? null : "wrong verifier";
  }

  function refreshFault(params: URLSearchParams): string | null {
    return params.get("refresh_token") === tokens.refresh ? null : "used refresh token";
  }

  function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    if (isExpired || request.headers.authorization !== `Bearer ${tokens.access}`) {
      const hint = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      return void response.writeHead(401, { "www-authenticate": hint }).end();
    }
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body) as Message;
    if (id === undefined) return void response.writeHead(202).end();
    reply(response, 200, { jsonrpc: "2.0", id, result: resultOf(method, params) });
  }

  return {
    url: `${origin}/mcp`,
    grants,
    refusals,
    get tokens() {
      return tokens;
    },
    expire: () => (isExpired = true),
    consent: async (authorizationUrl) => {
      const { headers } = await fetch(authorizationUrl, { redirect: "manual" });
      return headers.get("location") ?? "";
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

type Message = { id?: number; method: string; params?: Record<string, unknown> };

function resultOf(method: string, params: Message["params"]): object {
  if (method === "initialize") {
    return {
      protocolVersion: params?.["protocolVersion"],
      capabilities: { tools: {} },
      serverInfo: { name: "double", version: "1" },
    };
  }
  if (method === "tools/list") return { tools: [{ name: "read", inputSchema: { type: "object" } }] };
  return { content: [{ type: "text", text: `did ${String(params?.["name"])}` }] };
}

function metadata(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
  };
}

function reply(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
}
