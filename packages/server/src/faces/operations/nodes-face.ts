import { nodeRoutes, type ServerNode } from "@convoke/protocol";
import type { Cluster } from "../../cluster/cluster.ts";
import { isOperator } from "../../security/roles.ts";
import { face, type Face } from "../../http/mount.ts";
import { formatInstant } from "../../lib/instant.ts";

/** The nodes that share the store. Only the operator sees their addresses. */
export function nodesFace(cluster: Pick<Cluster, "nodeId" | "nodes">): Face {
  return face(nodeRoutes, {
    listNodes: async ({ caller }) => {
      const nodes = isOperator(caller) ? await cluster.nodes() : [];
      return {
        json: {
          nodes: nodes.map(({ id, address, release, startedAtMs }): ServerNode => ({
            id,
            is_self: id === cluster.nodeId,
            address,
            release,
            started_at: startedAtMs === null ? null : formatInstant(startedAtMs * 1000),
          })),
        },
      };
    },
  });
}
