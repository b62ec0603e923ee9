import type { Socket } from "node:net";
import type {
  MachineActs,
  MachineAsked,
  MachineCalls,
  MachineStream,
} from "../../app-conversations/machine-calls.ts";
import { machineUnavailable } from "../../app-conversations/sandbox-refusals.ts";
import type { Machines } from "../../cluster/machines.ts";
import type { Peers } from "../../cluster/peers.ts";
import { readAnswer, machinePrefix, type MachineAnswer } from "./machine-wire.ts";
import { openTunnel, type Refusal } from "./open-tunnel.ts";

export type NodeMachinesDeps = {
  readonly machines: Machines;
  readonly peers: Pick<Peers, "ask" | "findWay">;
};

/** Reaches the sandboxes of other machines through their nodes. */
export class NodeMachines implements MachineCalls {
  readonly #deps: NodeMachinesDeps;

  constructor(deps: NodeMachinesDeps) {
    this.#deps = deps;
  }

  get ownMachine(): string {
    return this.#deps.machines.own;
  }

  async living(): Promise<ReadonlyMap<string, string>> {
    return await this.#deps.machines.served();
  }

  async ask<Act extends keyof MachineActs>(
    machine: string,
    act: Act,
    { id, ownerId, templateId, network }: MachineAsked,
  ): Promise<MachineActs[Act]> {
    const query = templateId === undefined ? "" : `?template=${encodeURIComponent(templateId)}`;
    const path = `${machinePrefix}/${encodeURIComponent(id)}/${act}${query}`;
    const headers = { "content-type": "application/json" };
    const sent =
      network === undefined ? { headers: {}, body: undefined } : { headers, body: JSON.stringify(network) };
    const call = { method: "POST", path, ...sent };
    for (;;) {
      const nodeId = await this.#nodeOf(machine);
      const response = await this.#deps.peers
        .ask(nodeId, call, { userId: ownerId }, AbortSignal.timeout(maxMs))
        .catch((error: unknown) => {
          // Each call may be repeated.
          throw machineUnavailable({ cause: error });
        });
      if (response === null) throw machineUnavailable();
      const answer = answerOf({ status: response.status, body: await response.text() });
      if (answer !== "pending") return answer.value as MachineActs[Act];
    }
  }

  async open(machine: string, id: string, stream: MachineStream): Promise<Socket> {
    const nodeId = await this.#nodeOf(machine);
    const path = `${machinePrefix}/${id}/${stream === "host" ? "host" : `ports/${stream}`}`;
    const way = await this.#deps.peers.findWay(nodeId, "GET", path, { userId: "" });
    if (way === null) throw machineUnavailable();
    const opened = await openTunnel(way).catch((error: unknown) => {
      throw machineUnavailable({ cause: error });
    });
    if (!("status" in opened)) return opened;
    answerOf(opened);
    throw machineUnavailable();
  }

  async #nodeOf(machine: string): Promise<string> {
    const nodeId = (await this.living()).get(machine);
    if (nodeId === undefined) throw machineUnavailable();
    return nodeId;
  }
}

/** Longer than a node takes to answer `pending`. */
const maxMs = 60_000;

/** A node that refuses the pass has a new id by now, and one without this route serves no machine. */
function answerOf({ status, body }: Refusal): ReturnType<typeof readAnswer> {
  if (status !== 200) throw machineUnavailable();
  return readAnswer(JSON.parse(body) as MachineAnswer);
}
