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
  /** How long calls wait for a host that is away; 30,000 unless given. */
  readonly awayMs?: number;
  /** How often the host is asked whether it is there; after three rounds of silence the connection is made anew. 5,000 unless given. */
  readonly pingMs?: number;
  readonly maxFrameBytes?: number;
  /** Makes a connection to where the host listens, when the way there leads through something else; `address` is then for messages only. */
  readonly open?: () => Promise<Socket>;
};

/**
 * A tool host in another process. Calls outlive broken connections and restarts of the host; what a restarted host does not
 * know the end of becomes an `error` outcome. Disposing it ends the sessions it opened.
 */
export interface RemoteToolHost extends ToolHost {
  /** Files and git of the machine that the host runs on. */
  readonly workspace: Workspace;
  /** Commands on that machine; disposing it does nothing, they are the host's. */
  readonly bash: Bash;
  /** Lets go of the host: its sessions stay open and executions go on, for a client that comes later. */
  detach(): void;
}

/** Resolves once connected; rejects with ToolHostUnreachableError or ToolHostRefusedError (another key, another release). */
export async function connectToolHost(options: ConnectOptions): Promise<RemoteToolHost> {
  const open = options.open ?? (() => connectTarget(parseAddress(options.address)));
  const link = new Link({
    address: options.address,
    unavailableMs: options.awayMs ?? 30_000,
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

  /** A host that cannot be reached now is not waited for. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#link.isConnected) {
      await Promise.all([...this.#sessions].map((session) => session[Symbol.asyncDispose]()));
    }
    this.detach();
  }
}
