import { ConvokeClient } from "@convoke/client";
import { readConfig } from "@convoke/server/config";
import { readSessionKey } from "@convoke/server/session-key";
import { storeOverrides, type StoreOptions } from "./commands/store-options.ts";
import { CommandError, exitCodes } from "./exit-codes.ts";
import type { Node } from "./open-node.ts";
import { findServers, type RunningServer } from "./running-servers.ts";

export type ServerOptions = StoreOptions & {
  /** Address of a server, instead of the one of the data folder. */
  readonly server?: string;
};

export type OpenedClient = AsyncDisposable & {
  readonly client: ConvokeClient;
  /** `http://host:port`, with a path prefix if a proxy adds one; no slash at its end. */
  readonly url: string;
  /** Null where the server needs none. */
  readonly apiKey: string | null;
  /** `named` by `--server`, `running` on the data folder, or `own`: started for the time of the command. */
  readonly source: "named" | "running" | "own";
};

type Deps = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Starts a server on the data folder; not called where there is another one. */
  readonly openOwn: () => Promise<Node>;
  /** False: a server that runs on the data folder is not used. */
  readonly findsRunning?: boolean;
};

/**
 * A client of the server that `--server` names, else of the newest one that runs on the data folder, else of one that `openOwn`
 * starts and that ends when this is disposed. The key is the configured one (`SESSION_API_KEY`) or that of the data folder, which
 * is only sent to servers of that folder. Rejects with {@link CommandError}.
 */
export async function openClient(
  options: ServerOptions,
  { environment, openOwn, findsRunning = true }: Deps,
): Promise<OpenedClient> {
  const { dataDir, sessionApiKeys } = readConfig(environment, storeOverrides(options));
  // SESSION_API_KEY is the last one.
  const configured = sessionApiKeys.at(-1) ?? null;
  if (options.server !== undefined) {
    const url = parseServerUrl(options.server);
    const local = (await findServers(dataDir)).find(({ apiUrl }) => apiUrl === url);
    const apiKey = local === undefined ? configured : await keyOf(local, dataDir, configured);
    return toOpened({ url, apiKey, source: "named" });
  }
  const running = findsRunning ? (await findServers(dataDir)).at(-1) : undefined;
  if (running !== undefined) {
    if (running.needsLogin && !running.usesFolderKey && configured === null)
      throw new CommandError(
        `The server at ${running.apiUrl} was started with a configured key. Set SESSION_API_KEY to it, or to another key of that server.`,
        exitCodes.usage,
      );
    const apiKey = await keyOf(running, dataDir, configured);
    return toOpened({ url: running.apiUrl, apiKey, source: "running" });
  }
  const node = await openOwn();
  const { url, sessionKey } = node.server;
  const close = async (): Promise<void> => await node[Symbol.asyncDispose]();
  return toOpened({ url, apiKey: sessionKey?.key ?? null, source: "own" }, close);
}

async function keyOf(
  { usesFolderKey }: RunningServer,
  dataDir: string,
  configured: string | null,
): Promise<string | null> {
  return usesFolderKey ? ((await readSessionKey(dataDir))?.key ?? configured) : configured;
}

function toOpened(
  { url, apiKey, source }: Pick<OpenedClient, "url" | "apiKey" | "source">,
  close: () => Promise<void> = async () => undefined,
): OpenedClient {
  const client = new ConvokeClient({ baseUrl: url, ...(apiKey === null ? {} : { apiKey }) });
  return { client, url, apiKey, source, [Symbol.asyncDispose]: close };
}

function parseServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.search}${url.hash}` === "")
    return url.href.replace(/\/+$/, "");
  throw new CommandError(
    `--server must be an address such as http://127.0.0.1:8000, not "${text}".`,
    exitCodes.usage,
  );
}
