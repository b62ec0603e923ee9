import type { Socket } from "node:net";
import type { SessionSpec, ToolHost, ToolSession } from "../host.ts";
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

/** Resolves once connected; rejects with ToolHostUnreachableError or ToolHostRefusedError (another key, another release). */
export async function connectToolHost(options: ConnectOptions): Promise<RemoteToolHost> {
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
  try {
    const { welcome } = await link.connection();
    return new ConnectedHost(link, welcome.catalogue);
  } catch (error) {
    link.close();
    throw error;
  }
}

class ConnectedHost implements RemoteToolHost {
  readonly catalogue: readonly string[];
  readonly workspace: Workspace;
  readonly bash: Bash;
  readonly #link: Link;
  readonly #sessions = new Set<RemoteSession>();

  constructor(link: Link, catalogue: readonly string[]) {
    this.#link = link;
    this.catalogue = catalogue;
    this.workspace = createRemoteWorkspace(link);
    this.bash = createRemoteBash(link);
  }

  async openSession(spec: SessionSpec): Promise<ToolSession> {
    const onClose = (closed: RemoteSession): void => void this.#sessions.delete(closed);
    const session = await new RemoteSession({ link: this.#link, spec, onClose }).open();
    this.#sessions.add(session);
    return session;
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
