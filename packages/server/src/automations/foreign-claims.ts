import type { Cluster } from "../cluster/cluster.ts";
import type { AutomationRun } from "./automation.ts";

export type ForeignClaimsDeps = {
  readonly cluster: Pick<Cluster, "nodeId" | "nodes">;
};

/** A living node that has not started its run for so long is stuck. Starting it twice is harmless, see `RunStarter`. */
const stuckMs = 30_000;

/** Chooses the claimed runs that this node starts: its own, those of nodes that are gone, and those of nodes that are stuck. */
export class ForeignClaims {
  readonly #deps: ForeignClaimsDeps;
  /** By run id, when it was first seen as a claim of a living node. */
  #seen: ReadonlyMap<string, number> = new Map();

  constructor(deps: ForeignClaimsDeps) {
    this.#deps = deps;
  }

  async choose(claimed: readonly AutomationRun[]): Promise<readonly AutomationRun[]> {
    const ownNode = this.#deps.cluster.nodeId;
    const isOwn = ({ nodeId }: AutomationRun): boolean => nodeId === null || nodeId === ownNode;
    if (claimed.every(isOwn)) {
      this.#seen = new Map();
      return claimed;
    }
    const living = new Set((await this.#deps.cluster.nodes()).map(({ id }) => id));
    const nowMs = performance.now();
    const foreign = claimed.filter((run) => !isOwn(run) && living.has(run.nodeId ?? ""));
    this.#seen = new Map(foreign.map(({ id }) => [id, this.#seen.get(id) ?? nowMs]));
    const isStuck = ({ id }: AutomationRun): boolean => nowMs - (this.#seen.get(id) ?? nowMs) >= stuckMs;
    return claimed.filter((run) => !foreign.includes(run) || isStuck(run));
  }
}
