import type { Socket } from "node:net";
import type { SessionSpec, ToolHost, ToolListing, ToolSession } from "../host.ts";
import type { PipedProcess, ProcessSpec } from "../processes/piped-process.ts";
import type { ListeningPort } from "../processes/listening-ports.ts";
import type { PersonShell, ShellSpec } from "../processes/person-shell.ts";
import type { Bash } from "../bash/bash.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { parseAddress } from "./address.ts";
import { connectTarget } from "./connect-target.ts";
import { defaultMaxFrameBytes } from "./channel.ts";
import { Link } from "./link.ts";
import { openConnection } from "./open-connection.ts";
import { RemoteSession } from "./remote-session.ts";
import { RemoteProcess } from "./remote-process.ts";
import { openRemoteShell } from "./remote-shell.ts";
import { createRemoteBash } from "./remote-bash.ts";
import { createRemoteWorkspace } from "./remote-workspace.ts";

export type ConnectOptions = {
  /** `unix:/path` or `tcp:address:port`, as the host printed it. */
  readonly address: string;
  readonly key: string;
  /** Milliseconds that calls wait for an unavailable host; 30,000 unless given. */
  readonly unavailableMs?: number;
  /** Interval of pings in milliseconds; after three unanswered ones the client reconnects. 5,000 unless given. */
  readonly pingMs?: number;
  readonly maxFrameBytes?: number;
  /** Opens the transport to the host, for example through a proxy. `address` is then only used in messages. */
  readonly open?: () => Promise<Socket>;
};

/**
 * A tool host in another process. Calls survive broken connections and restarts of the host; a call whose outcome a restarted host
 * does not know becomes an `error` outcome. Disposing it ends the sessions it opened.
 */
export interface RemoteToolHost extends ToolHost {
  /** Files and git of the host's machine. */
  readonly workspace: Workspace;
  /** Commands on the host's machine. Disposing it does nothing, because the host owns them. */
  readonly bash: Bash;
  /** Disconnects: sessions stay open and executions continue, for a later client. */
  detach(): void;
}

/** A tool host whose tools are known before there is a connection: calls wait for it. */
export interface LateToolHost extends RemoteToolHost {
  /**
   * Opens a session at once, with tools that are known; what the host lists is not read. A call waits for the session, and has an `error`
   * outcome where it cannot be opened.
   */
  openKnownSession(spec: SessionSpec, tools: readonly ToolListing[]): ToolSession;
  /** Its catalogue, once connected; rejects like {@link connectToolHost}. The host goes on trying to connect after that. */
  connected(): Promise<readonly string[]>;
}

/** Resolves once connected; rejects with ToolHostUnreachableError or ToolHostRefusedError (another key, another release). */
export async function connectToolHost(options: ConnectOptions): Promise<RemoteToolHost> {
  const host = openToolHost(options);
  try {
    await host.connected();
    return host;
  } catch (error) {
    host.detach();
    throw error;
  }
}

/** Connects in the background. */
export function openToolHost(options: ConnectOptions): LateToolHost {
  const open = options.open ?? (() => connectTarget(parseAddress(options.address)));
  const link = new Link({
    address: options.address,
    unavailableMs: options.unavailableMs ?? 30_000,
    open: async () =>
      openConnection({
        connect: open,
        key: options.key,
        maxFrameBytes: options.maxFrameBytes ?? defaultMaxFrameBytes,
        greetingMs: 5_000,
        pingMs: options.pingMs ?? 5_000,
      }),
  });
  return new ConnectedHost(link);
}

class ConnectedHost implements LateToolHost {
  readonly workspace: Workspace;
  readonly bash: Bash;
  readonly #link: Link;
  readonly #sessions = new Set<RemoteSession>();

  #catalogue: readonly string[] = [];

  constructor(link: Link) {
    this.#link = link;
    this.workspace = createRemoteWorkspace(link);
    this.bash = createRemoteBash(link);
  }

  /** Empty before the first connection. */
  get catalogue(): readonly string[] {
    return this.#catalogue;
  }

  async connected(): Promise<readonly string[]> {
    const { welcome } = await this.#link.connection();
    return (this.#catalogue = welcome.catalogue);
  }

  async openSession(spec: SessionSpec): Promise<ToolSession> {
    const session = this.#createSession(spec, null);
    await session.open();
    this.#sessions.add(session);
    return session;
  }

  openKnownSession(spec: SessionSpec, tools: readonly ToolListing[]): ToolSession {
    const session = this.#createSession(spec, tools);
    this.#sessions.add(session);
    // Each call opens it where this did not, and has the reason.
    session.open().catch(() => {});
    return session;
  }

  #createSession(spec: SessionSpec, known: readonly ToolListing[] | null): RemoteSession {
    const onClose = (closed: RemoteSession): void => void this.#sessions.delete(closed);
    return new RemoteSession({ link: this.#link, spec, known, onClose });
  }

  startProcess(spec: ProcessSpec): PipedProcess {
    return new RemoteProcess(this.#link, spec);
  }

  async openShell(spec: ShellSpec): Promise<PersonShell> {
    return openRemoteShell(this.#link, spec);
  }

  async listPorts(folder: string): Promise<readonly ListeningPort[]> {
    return this.#link.run(async (connection) => connection.request("listPorts", { folder }));
  }

  detach(): void {
    for (const session of this.#sessions) session.abandon();
    this.#sessions.clear();
    this.#link.close();
  }

  /** Does not wait for a host that is unavailable now. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#link.isConnected) {
      await Promise.all([...this.#sessions].map((session) => session[Symbol.asyncDispose]()));
    }
    this.detach();
  }
}
