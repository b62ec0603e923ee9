import { randomUUID } from "node:crypto";
import { onceUnlessRejected } from "@convoke/protocol/once-unless-rejected";
import type { ToolHost } from "../host.ts";
import type { Bash } from "../bash/bash.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { formatAddress } from "./address.ts";
import type { ListenAddress } from "./address.ts";
import { defaultMaxFrameBytes } from "./channel.ts";
import { listen } from "./listen.ts";
import { ServedConnection } from "./serve-connection.ts";
import type { ConnectionLimits } from "./serve-connection.ts";
import { SessionTable } from "./session-table.ts";

export type ServeOptions = {
  /** Requests wait while the host loads; the caller handles a rejection. */
  readonly host: ToolHost | Promise<ToolHost>;
  readonly workspace: Workspace;
  /** Owned by the caller, like the host. */
  readonly bash: Bash;
  readonly listen: ListenAddress;
  /** Shared key of all clients; it is never sent. */
  readonly key: string;
  /** Directory for records, one directory per session id, instead of the directories that clients name. */
  readonly stateDir?: string;
  readonly onWarning?: (text: string) => void;
  readonly limits?: Partial<ConnectionLimits>;
};

/** Disposing it stops serving; the host with its sessions and executions stays. */
export interface Served extends AsyncDisposable {
  /** `unix:/path` or `tcp:address:port`, for `connectToolHost`. */
  readonly address: string;
  readonly bootId: string;
  /** Closes every open connection, as a broken network would. */
  cutConnections(): void;
}

/** Serves a tool host and its workspace to clients in other processes. */
export async function serveToolHost(options: ServeOptions): Promise<Served> {
  if (options.key.length < 16) throw new Error("A tool host's key has at least 16 characters.");
  const onWarning = options.onWarning ?? (() => {});
  const host = Promise.resolve(options.host);
  const bootId = randomUUID();
  const connections = new Set<ServedConnection>();
  const deps = {
    host,
    workspace: options.workspace,
    bash: options.bash,
    sessions: new SessionTable({ host, onWarning, stateDir: options.stateDir }),
    key: options.key,
    bootId,
    onWarning,
    limits: { ...defaultLimits, ...options.limits },
  };
  let isStopping = false;
  const listener = await listen(options.listen, (socket) => {
    if (isStopping || connections.size >= maxConnections) return void socket.destroy();
    const connection = new ServedConnection(socket, deps);
    connections.add(connection);
    void connection.closed.then(() => connections.delete(connection));
  });
  const cutConnections = (): void => {
    for (const connection of connections) connection.destroy();
  };
  const stop = async (): Promise<void> => {
    // A disconnected client reconnects at once, perhaps before the listener is closed.
    isStopping = true;
    cutConnections();
    await listener.stop();
  };
  return {
    address: formatAddress(listener.address),
    bootId,
    cutConnections,
    [Symbol.asyncDispose]: onceUnlessRejected(stop),
  };
}

const maxConnections = 256;

const defaultLimits: ConnectionLimits = {
  maxFrameBytes: defaultMaxFrameBytes,
  maxRequests: 4_096,
  greetingMs: 5_000,
  silentMs: 40_000,
};
