import { once } from "node:events";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import type { ListeningPort } from "@convoke/tool-host";
import { conversationMissing } from "../../engine/refusals.ts";
import { Fault } from "../../lib/fault.ts";
import { storedId } from "../../lib/uuid7.ts";
import type { HostedConversation } from "../../tools/conversation-host.ts";
import type { WalledHost } from "../../walls/wall.ts";
import { toFault } from "../../workspaces/to-fault.ts";
import type { FaceDeps } from "../face-deps.ts";

export type WorkspacePortsDeps = Pick<
  FaceDeps,
  "directory" | "toolHost" | "sandboxes" | "openAccess" | "openSandboxAccess" | "clock"
> & {
  /** The wall of a conversation on the server's machine; null when it has none. */
  readonly openWall: (conversation: HostedConversation) => Promise<WalledHost | null>;
  /**
   * With several machines: rejects with `OwnedElsewhere` for a conversation of another node, whose machine runs the
   * programs.
   */
  readonly owners: Pick<FaceDeps["directory"], "open"> | null;
};

/** A page makes many requests, so results are cached for that long. */
const believedMs = 1_000;

type Asker = { readonly userId: string };
type Found = { readonly atMs: number; readonly ports: Promise<readonly ListeningPort[]> };

/** The ports on which programs of conversations' workspaces listen; only for users who may run commands there. */
export class WorkspacePorts {
  readonly #deps: WorkspacePortsDeps;
  readonly #found = new Map<string, Found>();

  constructor(deps: WorkspacePortsDeps) {
    this.#deps = deps;
  }

  /** Throws for a conversation of another user (404), and when the caller may not run commands in it (403). */
  async list(asker: Asker, conversationId: string): Promise<readonly ListeningPort[]> {
    return await this.#read(await this.#placeOf(asker, conversationId));
  }

  /** Throws when no program of the workspace listens there any more (404), even if another program does. */
  async connect(asker: Asker, conversationId: string, port: number): Promise<Duplex> {
    const place = await this.#placeOf(asker, conversationId);
    const isAsked = (one: ListeningPort): boolean => one.port === port;
    let listening = (await this.#believed(place.key)?.ports)?.find(isAsked);
    if (listening === undefined) {
      // It may have been started a moment ago.
      const ports = this.#read(place);
      this.#found.set(place.key, { atMs: this.#deps.clock.nowMs(), ports });
      listening = (await ports).find(isAsked);
    }
    if (listening === undefined) throw portMissing(port);
    return await place.connect(listening);
  }

  #believed(key: string): Found | undefined {
    const oldestMs = this.#deps.clock.nowMs() - believedMs;
    for (const [other, { atMs }] of this.#found) if (atMs < oldestMs) this.#found.delete(other);
    return this.#found.get(key);
  }

  async #read({ list }: Place): Promise<readonly ListeningPort[]> {
    try {
      return await list();
    } catch (error) {
      throw toFault(error);
    }
  }

  /** Checked first, so that a preview ends with the right to it. */
  async #placeOf(asker: Asker, conversationId: string): Promise<Place> {
    const { directory, toolHost, openAccess, openSandboxAccess, openWall, owners, sandboxes } = this.#deps;
    const described = await directory.describe(asker, storedId(conversationId));
    if (described === null) throw conversationMissing(conversationId);
    const { id, config } = described;
    const { sandbox_id: sandboxId, workspace } = config;
    const folder = workspace.working_dir;
    if (sandboxId !== undefined) {
      await openSandboxAccess(asker, { sandbox_id: sandboxId });
      return {
        key: `${sandboxId}\0${folder}`,
        list: async () => await (await sandboxes!.openHost(sandboxId)).toolHost.listPorts(folder),
        connect: async ({ port }) => await sandboxes!.connectPort(sandboxId, port),
      };
    }
    await openAccess(asker, {});
    await owners?.open(asker, id);
    const wall = await openWall({ id, ownerId: asker.userId, config });
    if (wall !== null)
      return {
        key: `${id}\0${folder}`,
        // One that does not run has no programs, and is not started to find that out.
        list: async () => (wall.isRunning ? await (await wall.openHost()).listPorts(folder) : []),
        connect: async ({ port }) => await wall.connectPort(port),
      };
    return {
      key: `\0${folder}`,
      list: async () => await toolHost.listPorts(folder),
      connect: connectHere,
    };
  }
}

/** Where the programs of a conversation listen. */
type Place = {
  /** Of results that are cached. */
  readonly key: string;
  readonly list: () => Promise<readonly ListeningPort[]>;
  readonly connect: (listening: ListeningPort) => Promise<Duplex>;
};

async function connectHere({ port, host }: ListeningPort): Promise<Duplex> {
  const socket = connect({ port, host, allowHalfOpen: true });
  try {
    await once(socket, "connect");
  } catch {
    // It ended a moment ago.
    throw portMissing(port);
  }
  return socket;
}

export function portMissing(port: number): Fault {
  return new Fault("missing", "port_not_listening", `No program of the workspace listens on port ${port}.`);
}
