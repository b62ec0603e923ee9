import { isAbsolute, posix } from "node:path";
import type {
  AuthProvider,
  Client,
  jsonSchemaValidator,
  JsonSchemaValidator,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { ToolHost } from "@convoke/tool-host";
import { orAborted } from "../../lib/or-aborted.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import { createBoundedFetch, type Fetch } from "./bounded-fetch.ts";
import type { McpLogin, McpLoginState } from "../../settings/mcp-logins.ts";
import type { McpRemote, McpServer } from "./mcp-server.ts";
import { OAuthProvider } from "./oauth-provider.ts";
import { withOwnHeaders } from "./own-headers.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { unattendedAuth } from "./unattended-auth.ts";
import { orAfter } from "../../lib/or-after.ts";

/** The logins of one user to remote servers, see {@link McpLogins.open}. */
export interface OwnLogins {
  open(url: string, configured: McpLoginState): McpLogin;
}

export type OpenClientDeps = {
  readonly toolHost: Pick<ToolHost, "startProcess">;
  /** Absolute, on the tool host's machine. */
  readonly workspaceDir: string;
  readonly fetch: Fetch;
  readonly clientVersion: string;
  /** Called when a remote server requires a person's consent; absent: the connection fails instead. */
  readonly oauthProvider?: OAuthProvider;
  /** Where refreshed tokens of a remote server are stored. */
  readonly ownLogins?: OwnLogins | undefined;
  /** Called with every token in use. */
  readonly tokens?: Pick<Set<string>, "add">;
};

/** A connection after its handshake. */
export type OpenClient = {
  readonly client: Client;
  /** Resolves with the reason when the connection is closed for good; a new one has to be opened. */
  readonly lost: Promise<string>;
  /** Ends the connection, and the program behind it; idempotent, never rejects. */
  close(): Promise<void>;
};

/** The maximum time for a server to close. */
const farewellMs = 1_000;

/** Connects and performs the handshake; rejects with the failure and cleans up then. `signal` limits the time. */
export async function openClient(
  server: McpServer,
  deps: OpenClientDeps,
  signal: AbortSignal,
): Promise<OpenClient> {
  const library = await import("@modelcontextprotocol/client");
  const transport = server.transport === "stdio" ? toProgram(server, deps) : toRemote(server, deps, library);
  const client = new library.Client(
    { name: "convoke", version: deps.clientVersion },
    // Answers are bounded and read tolerantly by us; a bad output schema is no reason to lose one.
    { capabilities: {}, jsonSchemaValidator: acceptAll },
  );
  const lost = Promise.withResolvers<string>();
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    if (transport instanceof library.StreamableHTTPClientTransport) {
      await orAfter(
        transport.terminateSession().catch(() => {}),
        farewellMs,
        null,
      );
    }
    // A connection that cannot even be closed is gone; there is nothing left to do about it.
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has this one listener, and is no event target
  client.onclose = () => {
    lost.resolve(
      (transport instanceof StdioTransport ? transport.end : null) ?? "The connection was closed.",
    );
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the same
  client.onerror = (error) => {
    // This transport would reconnect to a session without a handshake.
    if (transport instanceof library.SSEClientTransport && error instanceof library.SseError)
      lost.resolve(error.message);
  };
  try {
    await orAborted(client.connect(transport, { timeout: longestMs, signal }), signal);
    return { client, lost: lost.promise, close };
  } catch (error) {
    const end = transport instanceof StdioTransport ? transport.end : null;
    await close();
    throw end === null || signal.aborted ? error : new Error(end, { cause: error });
  }
}

/** The signal bounds the handshake; this is only larger than any. */
const longestMs = 2 ** 31 - 1;

/** Exchanges what a person's browser brought back for tokens, which `oauthProvider` keeps; rejects when that is refused. */
export async function finishLogin(
  server: McpServer & McpRemote,
  deps: OpenClientDeps,
  params: URLSearchParams,
  signal: AbortSignal,
): Promise<void> {
  const transport = toRemote(server, deps, await import("@modelcontextprotocol/client"));
  try {
    await orAborted(transport.finishAuth(params), signal);
  } finally {
    await transport.close();
  }
}

function toProgram(server: McpServer & { transport: "stdio" }, deps: OpenClientDeps): StdioTransport {
  const { command, args, env, cwd } = server;
  const workingDir =
    cwd === null ? deps.workspaceDir : isAbsolute(cwd) ? cwd : posix.join(deps.workspaceDir, cwd);
  return new StdioTransport(() =>
    deps.toolHost.startProcess({ command, args, environment: env, workingDir }),
  );
}

function toRemote(
  server: McpServer & McpRemote,
  deps: OpenClientDeps,
  library: typeof import("@modelcontextprotocol/client"),
): SSEClientTransport | StreamableHTTPClientTransport {
  const { SSEClientTransport, StreamableHTTPClientTransport } = library;
  const provider = deps.oauthProvider ?? unattended(server, deps, library);
  const url = new URL(server.url);
  const options = withoutUndefined({
    fetch: withOwnHeaders(createBoundedFetch(deps.fetch), url.origin, server.headers),
    authProvider: provider,
  });
  return server.transport === "sse"
    ? new SSEClientTransport(url, options)
    : new StreamableHTTPClientTransport(url, { ...options, reconnectionOptions });
}

function unattended(
  { url, oauth }: McpRemote,
  { ownLogins, tokens }: OpenClientDeps,
  library: typeof import("@modelcontextprotocol/client"),
): AuthProvider | undefined {
  if (oauth === null) return undefined;
  const login = ownLogins?.open(url, oauth.state) ?? null;
  const provider = new OAuthProvider({
    ...oauth,
    // The library refreshes nothing where nobody could be sent; nobody is sent there.
    redirectUrl: "http://127.0.0.1/",
    onAuthorize: () => {},
    login: login ?? undefined,
    tokens,
  });
  return unattendedAuth(provider, login, library);
}

/** For the stream of a server's notifications; a call that finds the server gone fails at once. */
const reconnectionOptions = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 60_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 1_000_000,
};

const acceptAll: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};
