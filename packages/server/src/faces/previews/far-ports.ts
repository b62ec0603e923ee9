import type { Duplex } from "node:stream";
import { hereOrThere } from "../../http/here-or-there.ts";
import type { Caller } from "../../security/caller.ts";
import type { Peers } from "../../cluster/peers.ts";
import { Fault } from "../../lib/fault.ts";
import type { ByteTunnels } from "../machines/byte-tunnels.ts";
import { readAnswer, type MachineAnswer } from "../machines/machine-wire.ts";
import { openTunnel } from "../machines/open-tunnel.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";

export type FarPortsDeps = {
  readonly ports: Pick<WorkspacePorts, "connect">;
  readonly peers: Pick<Peers, "findWay" | "ownerTimeoutMs">;
};

const prefix = "/internal/conversations";

/** Ports of workspaces, also on the machine of another node that owns the conversation. */
export class FarPorts {
  readonly #deps: FarPortsDeps;

  constructor(deps: FarPortsDeps) {
    this.#deps = deps;
  }

  /** Mounts the tunnels for other nodes. */
  mount(tunnels: ByteTunnels): void {
    tunnels.mount(`${prefix}/:id/ports/:port`, async ({ caller, params }) => {
      const { id, port } = params as { id: string; port: string };
      return await this.#deps.ports.connect(caller!, id, Number(port));
    });
  }

  async connect(caller: Caller, id: string, port: number): Promise<Duplex> {
    const { ports, peers } = this.#deps;
    const here = (): Promise<Duplex> => ports.connect(caller, id, port);
    const there = (nodeId: string): Promise<Duplex | null> => this.#connectAt(nodeId, caller, id, port);
    return await hereOrThere(here, there, peers.ownerTimeoutMs, new AbortController());
  }

  /** Null when that node no longer owns the conversation, or has ended. */
  async #connectAt(nodeId: string, caller: Caller, id: string, port: number): Promise<Duplex | null> {
    const path = `${prefix}/${id}/ports/${port}`;
    const way = await this.#deps.peers.findWay(nodeId, "GET", path, caller);
    if (way === null) return null;
    // Nothing was sent to the program; the next attempt finds the owner.
    const opened = await openTunnel(way).catch(() => null);
    if (opened === null || !("status" in opened)) return opened;
    if (opened.status !== 200) return null;
    try {
      readAnswer(JSON.parse(opened.body) as MachineAnswer);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "owned_elsewhere") throw error;
    }
    return null;
  }
}
